/// <reference path="../../../types/ltr553als.d.ts" />
import LTR553ALS from "embedded:sensor/AmbientLight-Proximity/LTR553ALS";
import config from "mc/config";
import Timer from "timer";
import { FIRMWARE } from "../../../core/firmware.js";
import { inBuild } from "../../../platform/in-build.js";
import { openFace } from "../../../screen/open-face.js";
import openPreview from "../../../screen/open-preview.js";
import openCodec from "../../../sound/open-codec.js";
import { openPlayer } from "../../../sound/open-player.js";
import type { BoardData, OpeningBoard, OpenMember } from "../../board-data.js";
import type { PowerChipGlobal } from "../../drivers/axp2101.js";
import { frameJpeg } from "../../drivers/frame-jpeg.js";
import { openCamera } from "../../drivers/open-camera.js";
import { closeAll, openEsp32 } from "../../drivers/open-esp32.js";
import { openImu } from "../../drivers/open-motion.js";
import { boardBus, openOptional } from "../../drivers/open-optional.js";
import { openRtc } from "../../drivers/open-rtc.js";
import { openTouch } from "../../drivers/open-touch.js";
import { PowerChip } from "../../drivers/power-chip.js";
import { registerSpeaker } from "../../drivers/register-speaker.js";
import { type LightSensor, lightSensor } from "../../drivers/sensor-light.js";
import type { Board } from "../../hardware.js";

/** Global of the SDK's set-up of this target: the powered AW88298, whose sample rate audio out sets. */
declare const amp: { volume: number };

/** Volumes of the AW88298 in half decibels. 0 is as loud as 256, which does not fit into its register. */
const SILENCE = 1;
const LOUDEST = 256;

/** M5Stack CoreS3: ESP32-S3, touch screen, speaker, microphones, camera, battery, motion, light, clock. */
export const openBoard = () => {
	const { powerChip } = globalThis as PowerChipGlobal;
	if (powerChip === undefined) {
		throw new Error("the SDK's setup/target did not open the power chip");
	}
	const power = new PowerChip(powerChip);
	const screen = openFace(new config.Screen({}), power);
	const preview = openPreview(screen);
	const player = openPlayer(100);
	const touch = openOptional("touch screen", () => openTouch());
	const motion = openOptional("motion sensor", () => openImu());
	// A Lite-On LTR-553ALS. The SDK's driver reports raw counts, not lux.
	const source = openOptional("light sensor", () => new LTR553ALS({ sensor: boardBus() }));
	const light: LightSensor | undefined = source && lightSensor(source, "counts", Timer);
	const esp32 = openEsp32(FIRMWARE.board, openOptional("real-time clock", openRtc));
	const board = {
		...esp32,
		speaker: registerSpeaker(
			(volume) => {
				amp.volume = volume;
			},
			SILENCE,
			LOUDEST,
		),
		player,
		// Of its two microphones, which the target's setup has switched on, the left one.
		codec: openCodec(player, 1),
		screen,
		preview,
		// Its sensor makes no JPEG files.
		camera: openCamera({ width: 320, height: 240, encode: frameJpeg.encode }),
		battery: power,
		...(touch && { buttons: { screen: touch } }),
		...((motion ?? light) && { sensors: { ...(motion && { motion }), ...(light && { light }) } }),
	} satisfies Omit<Board, "close">;
	// Members that a preset adds.
	const { board: data = {} } = config as { readonly board?: BoardData };
	const opening: OpeningBoard = { data, board, closing: [] };
	for (const member of ["expander", "leds", "head"]) {
		inBuild<OpenMember>(`src/hardware/drivers/open-${member}`)?.(opening);
	}
	const { closing } = opening;
	const parts = [touch, motion, light, esp32.network, player, preview, screen, powerChip];
	return Object.assign(board, { close: () => closeAll(...closing, ...parts) });
};
