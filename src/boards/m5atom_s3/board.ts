import config from "mc/config";
import type { Board } from "../../hardware/hardware.js";
import { openEsp32 } from "../../platform/esp32.js";
import { openFace } from "../../platform/face.js";
import { openPreview } from "../../platform/preview.js";

/** M5Stack AtomS3: ESP32-S3 and a screen of 128 by 128 pixels, whose colours show the brightness. */
export function openBoard() {
	const screen = openFace(new config.Screen({}));
	const preview = openPreview(screen);
	const esp32 = openEsp32("m5atom_s3");
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
