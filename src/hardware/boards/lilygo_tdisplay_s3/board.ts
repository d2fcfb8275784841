import config from "mc/config";
import { openFace } from "../../../screen/open-face.js";
import { openPreview } from "../../../screen/open-preview.js";
import { openBacklight } from "../../drivers/backlight/host-backlight.js";
import { openButton } from "../../drivers/button/open-button.js";
import { closeAll, openEsp32 } from "../../drivers/esp32/open-esp32.js";
import type { Board } from "../../hardware.js";

/** LILYGO T-Display-S3: ESP32-S3 with PSRAM, screen, buttons. */
export const openBoard = () => {
	const screen = openFace(new config.Screen({}), openBacklight());
	const preview = openPreview(screen);
	const buttons = { right: openButton({ pin: 14 }), left: openButton({ pin: 0 }) };
	const esp32 = openEsp32("lilygo_tdisplay_s3");
	return {
		...esp32,
		screen,
		preview,
		buttons,
		bootButton: () => buttons.left,
		close: () => closeAll(buttons.right, buttons.left, esp32.network, preview, screen),
	} satisfies Board;
};
