import type { Speaker } from "../sound.js";
import type { SmBusRecord } from "./bus-chip.js";

/**
 * Opens a codec chip on the bus of the board: the default export of a chip's module.
 *
 * @param hasMasterClock whether the board connects the chip's master clock
 * @param volume initial volume, in percent
 * @throws Error if the chip does not answer
 */
export type OpenCodecChip = (bus: SmBusRecord, address?: number, hasMasterClock?: boolean, volume?: number) => Speaker;

/** Range of the audible volume in half decibels: 48 dB. */
const RANGE = 96;

/**
 * Makes a loudspeaker of a chip that has the volume in a register, in half decibels: 0 is silent; from 1 to 100 the volume rises
 * evenly in decibels. Nothing is written at first: the application sets the stored volume when it starts.
 *
 * @param write writes the register: `silence`, or up to `loudest`
 * @param current initial volume, in percent
 */
export const registerSpeaker = (
	write: (value: number) => void,
	silence: number,
	loudest: number,
	current = 70,
): Speaker => ({
	get volume() {
		return current;
	},
	set volume(volume) {
		write(volume === 0 ? silence : loudest - Math.round((RANGE * (100 - volume)) / 100));
		current = volume;
	},
});
