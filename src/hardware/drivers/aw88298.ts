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

/** A loudspeaker on an amplifier that has the volume in a register. */
export class Aw88298 implements Speaker {
	private readonly amplifier: Amplifier;
	private _volume = 70;

	/** Writes nothing: the application sets the stored volume when it starts. */
	constructor(amplifier: Amplifier) {
		this.amplifier = amplifier;
	}

	get volume(): number {
		return this._volume;
	}

	/** 0 is silent; from 1 to 100 the volume rises evenly in decibels. */
	set volume(volume: number) {
		const attenuation = Math.round((RANGE * (100 - volume)) / 100);
		this.amplifier.volume = volume === 0 ? SILENCE : LOUDEST - attenuation;
		this._volume = volume;
	}
}
