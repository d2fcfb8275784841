import config from "mc/config";
import type { Board } from "../../hardware/hardware.js";
import { openButton } from "../../platform/button.js";
import { openEsp32 } from "../../platform/esp32.js";
import { openFace } from "../../platform/face.js";

/**
 * M5Stack Core, also Basic and Gray: ESP32, buttons, and a screen, whose backlight is only on or off: its colours show the
 * brightness. The SDK's audio out does not play on the chip's DAC, which the loudspeaker is on.
 */
export function openBoard() {
	const screen = openFace(new config.Screen({}));
	const buttons = { a: openButton({ pin: 39 }), b: openButton({ pin: 38 }), c: openButton({ pin: 37 }) };
	const esp32 = openEsp32("m5stack");
	return {
		...esp32,
		screen,
		buttons,
		close() {
			for (const button of Object.values(buttons)) {
				button.close();
			}
			esp32.network.close();
			screen.close();
		},
	} satisfies Board;
}
