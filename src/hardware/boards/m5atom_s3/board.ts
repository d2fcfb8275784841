import config from "mc/config";
import { openFace } from "../../../screen/open-face.js";
import { openPreview } from "../../../screen/open-preview.js";
import { openButton } from "../../drivers/button/open-button.js";
import { closeAll, openEsp32 } from "../../drivers/esp32/open-esp32.js";
import { openImu, STANDARD_GRAVITY } from "../../drivers/imu/open-imu.js";
import { openOptional } from "../../drivers/open-optional.js";
import type { Board } from "../../hardware.js";

/** M5Stack AtomS3: ESP32-S3, motion sensor, and a screen that is a button. Its colours show the brightness. */
export const openBoard = () => {
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
		close: () => closeAll(button, motion, esp32.network, preview, screen),
	} satisfies Board;
};
