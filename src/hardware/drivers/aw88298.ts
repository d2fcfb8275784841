import type { Speaker } from "../sound.js";

/** Awinic's amplifier AW88298, as the SDK's set-up of a target opens it. */
interface Amplifier {
	/** Half decibels, 0 to 256: 256 is the loudest. 0 is as loud, because 256 does not fit into the chip's register. */
	volume: number;
}

const LOUDEST = 256;
const SILENCE = 1;

/** The range of the audible volume in half decibels: 48 dB. */
const RANGE = 96;

/**
 * A loudspeaker on an amplifier that has the volume in a register: 0 is silent; from 1 to 100 the volume rises evenly in
 * decibels. Nothing is written at first: the application sets the stored volume when it starts.
 */
export const aw88298 = (amplifier: Amplifier): Speaker => {
	let current = 70;
	return {
		get volume() {
			return current;
		},
		set volume(volume) {
			const attenuation = Math.round((RANGE * (100 - volume)) / 100);
			amplifier.volume = volume === 0 ? SILENCE : LOUDEST - attenuation;
			current = volume;
		},
	};
};
