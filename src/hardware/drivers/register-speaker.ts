import type { Speaker } from "../sound.js";

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
