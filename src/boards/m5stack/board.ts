import config from "mc/config";
import type { Board } from "../../hardware/hardware.js";
import { openEsp32 } from "../../platform/esp32.js";
import { openFace } from "../../platform/face.js";

/** M5Stack Core, also Basic and Gray: ESP32 and a screen. The screen shows its brightness in its colours, because its backlight is only on or off. */
export function openBoard() {
	const screen = openFace(new config.Screen({}));
	const esp32 = openEsp32("m5stack");
	return {
		...esp32,
		screen,
		close() {
			esp32.network.close();
			screen.close();
		},
	} satisfies Board;
}
