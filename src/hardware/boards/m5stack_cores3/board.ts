/// <reference path="../../../types/ltr553als.d.ts" />
import LTR553ALS from "embedded:sensor/AmbientLight-Proximity/LTR553ALS";
import config from "mc/config";
import Timer from "timer";
import { openPlayer } from "../../../sound/open-player.js";
import type { BoardData, OpeningBoard } from "../../board-data.js";
import type { PowerChipGlobal } from "../../drivers/axp2101.js";
import { boardBus, openOptional } from "../../drivers/open-optional.js";
import { PowerChip } from "../../drivers/open-power.js";
import { registerSpeaker } from "../../drivers/register-speaker.js";
import { lightSensor } from "../../drivers/sensor-light.js";
import { openMembers } from "../esp32/board.js";

/** Global of the SDK's set-up of this target: the powered AW88298, whose sample rate audio out sets. */
declare const amp: { volume: number };

/** Volumes of the AW88298 in half decibels. 0 is as loud as 256, which does not fit into its register. */
const SILENCE = 1;
const LOUDEST = 256;

/**
 * M5Stack CoreS3, with the parts that need code: speaker, battery and light. Of its two microphones, which the target's setup has
 * switched on, the codec takes the left one.
 */
export const openBoard = () => {
	const { powerChip } = globalThis as PowerChipGlobal;
	if (powerChip === undefined) {
		throw new Error("the SDK's setup/target did not open the power chip");
	}
	const battery = new PowerChip(powerChip);
	const player = openPlayer(100);
	const setVolume = (volume: number): void => {
		amp.volume = volume;
	};
	const closing: OpeningBoard["closing"] = [player];
	const { board: data = {} } = config as { readonly board?: BoardData };
	const board = openMembers({
		data,
		board: { battery, player, speaker: registerSpeaker(setVolume, SILENCE, LOUDEST) },
		closing,
		backlight: battery,
	});
	// A Lite-On LTR-553ALS. The SDK's driver reports raw counts, not lux.
	const source = openOptional("light sensor", () => new LTR553ALS({ sensor: boardBus() }));
	const light = source && lightSensor(source, "counts", Timer);
	closing.push(...(light ? [light] : []), powerChip);
	return Object.assign(board, light && { sensors: { ...board.sensors, light } });
};
