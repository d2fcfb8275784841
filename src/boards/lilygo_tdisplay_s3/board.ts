import config from "mc/config";
import type { Board } from "../../hardware/hardware.js";
import { openBacklight } from "../../platform/backlight.js";
import { openButton } from "../../platform/button.js";
import { openEsp32 } from "../../platform/esp32.js";
import { openFace } from "../../platform/face.js";
import { openPreview } from "../../platform/preview.js";

/** LILYGO T-Display-S3: ESP32-S3 with PSRAM, screen, buttons. */
export function openBoard() {
	const screen = openFace(new config.Screen({}), openBacklight());
	const preview = openPreview(screen);
	const buttons = { right: openButton({ pin: 14 }), left: openButton({ pin: 0 }) };
	const esp32 = openEsp32("lilygo_tdisplay_s3");
	return {
		...esp32,
		screen,
		preview,
		buttons,
		close() {
			buttons.right.close();
			buttons.left.close();
			esp32.network.close();
			preview.close();
			screen.close();
		},
	} satisfies Board;
}
