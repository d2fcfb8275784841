import config from "mc/config";
import { openFace } from "../../../screen/open-face.js";
import { openButton } from "../../drivers/button/open-button.js";
import { closeAll, openEsp32 } from "../../drivers/esp32/open-esp32.js";
import type { Board } from "../../hardware.js";

/**
 * M5Stack Core, also Basic and Gray: ESP32, buttons, and a screen, whose backlight is only on or off: its colours show the
 * brightness. The SDK's audio out does not play on the chip's DAC, which the loudspeaker is on.
 */
export const openBoard = () => {
	const screen = openFace(new config.Screen({}));
	const buttons = { a: openButton({ pin: 39 }), b: openButton({ pin: 38 }), c: openButton({ pin: 37 }) };
	const esp32 = openEsp32("m5stack");
	return {
		...esp32,
		screen,
		buttons,
		close: () => closeAll(buttons.a, buttons.b, buttons.c, esp32.network, screen),
	} satisfies Board;
};
