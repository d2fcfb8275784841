import config from "mc/config";
import { PowerChip, type SdkPower } from "../../drivers/power-chip.js";
import type { Board } from "../../hardware/hardware.js";
import { openEsp32 } from "../../platform/esp32.js";
import { openFace } from "../../platform/face.js";
import { openPreview } from "../../platform/preview.js";

/** What the SDK's target has, as far as it is used. The SDK's typings do not have it. */
interface Target {
	readonly I2C: { readonly internal: object };
	readonly peripheral: { readonly Power: new (options: object) => SdkPower };
}

/** M5Stack Core2: ESP32 with PSRAM, screen, battery. Its power chip feeds the screen, so it is opened first. */
export function openBoard() {
	const { peripheral, I2C } = device as unknown as Target;
	// Version 1.1 has an AXP2101, whose class wants the bus by this name, which the target's provider does not use.
	const sensor = { ...I2C.internal, io: device.io.SMBus };
	const power = new PowerChip(new peripheral.Power({ sensor }));
	const screen = openFace(new config.Screen({}), power);
	const preview = openPreview(screen);
	const esp32 = openEsp32("m5stack_core2");
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
