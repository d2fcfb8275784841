import OpenedPowerChip from "embedded:peripheral/Power/axp2101";
import config from "mc/config";
import { Aw88298 } from "../../drivers/aw88298.js";
import { Axp2101 } from "../../drivers/axp2101.js";
import type { Board } from "../../hardware/hardware.js";
import { openPlayer } from "../../platform/audio.js";
import { openEsp32 } from "../../platform/esp32.js";
import { openFace } from "../../platform/face.js";
import { openPreview } from "../../platform/preview.js";

/** What the SDK's set-up of this target leaves for the firmware: the amplifier, powered, which its audio out tells the sample rate. */
declare const amp: { volume: number };

/** M5Stack CoreS3: ESP32-S3, screen, speaker, battery. Microphones, camera and touch are not used. */
export function openBoard() {
	if (OpenedPowerChip.device === undefined) {
		throw new Error("the SDK's set-up of the target has not opened the power chip");
	}
	const power = new Axp2101(OpenedPowerChip.device);
	const screen = openFace(new config.Screen({}), power);
	const preview = openPreview(screen);
	const player = openPlayer(100);
	const esp32 = openEsp32("m5stack_cores3");
	return {
		...esp32,
		speaker: new Aw88298(amp),
		player,
		screen,
		preview,
		battery: power,
		close() {
			esp32.network.close();
			player.close();
			preview.close();
			screen.close();
			power.close();
		},
	} satisfies Board;
}
