import config from "mc/config";
import type { Board } from "../../hardware/hardware.js";
import { openButton } from "../../platform/button.js";
import { openEsp32 } from "../../platform/esp32.js";
import { openFace } from "../../platform/face.js";
import { openImu, STANDARD_GRAVITY } from "../../platform/imu.js";
import { openOptional } from "../../platform/open-optional.js";
import { openPreview } from "../../platform/preview.js";

/**
 * M5Stack AtomS3: ESP32-S3, motion sensor, and a screen of 128 by 128 pixels that is a button. Its colours show the
 * brightness.
 */
export function openBoard() {
	const screen = openFace(new config.Screen({}));
	const preview = openPreview(screen);
	const button = openButton({ pin: 41 });
	const motion = openOptional("motion sensor", () => openImu(STANDARD_GRAVITY));
	const esp32 = openEsp32("m5atom_s3");
	return {
		...esp32,
		screen,
		preview,
		buttons: { screen: button },
		...(motion && { sensors: { motion } }),
		close() {
			button.close();
			motion?.close();
			esp32.network.close();
			preview.close();
			screen.close();
		},
	} satisfies Board;
}
