import config from "mc/config";
import type { Board } from "../../hardware/hardware.js";
import { openBacklight } from "../../platform/backlight.js";
import { openEsp32 } from "../../platform/esp32.js";
import { openFace } from "../../platform/face.js";
import { openPreview } from "../../platform/preview.js";

/** Moddable Six: ESP32-S3 with PSRAM, and a screen. */
export function openBoard() {
	const screen = openFace(new config.Screen({}), openBacklight());
	const preview = openPreview(screen);
	const esp32 = openEsp32("moddable_six");
	return {
		...esp32,
		screen,
		preview,
		close() {
			esp32.network.close();
			preview.close();
			screen.close();
		},
	} satisfies Board;
}
