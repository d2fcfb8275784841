import config from "mc/config";
import { PowerChip, type SdkPower } from "../../drivers/power-chip.js";
import type { Board } from "../../hardware/hardware.js";
import { openEsp32 } from "../../platform/esp32.js";
import { openFace } from "../../platform/face.js";
import { openPreview } from "../../platform/preview.js";

/** What the SDK's target has, as far as it is used. The SDK's typings do not have it. */
interface Target {
	readonly peripheral: { readonly Power: new () => SdkPower };
}

/** M5StickC Plus: ESP32, a screen that is upright, battery. Its power chip feeds the screen, so it is opened first. */
export function openBoard() {
	const { peripheral } = device as unknown as Target;
	const power = new PowerChip(new peripheral.Power());
	const screen = openFace(new config.Screen({}), power);
	const preview = openPreview(screen);
	const esp32 = openEsp32("m5stick_cplus");
	return {
		...esp32,
		screen,
		preview,
		battery: power,
		close() {
			esp32.network.close();
			preview.close();
			screen.close();
		},
	} satisfies Board;
}
