import { type OpenCodecChip, registerSpeaker } from "./register-speaker.js";

/** Global of the SDK's set-up of a target: the powered AW88298. Audio out sets its sample rate. */
declare const amp: { volume: number };

/** Volumes in half decibels. 0 is as loud as 256, which does not fit into its register. */
const SILENCE = 1;
const LOUDEST = 256;

/** Makes a speaker of the amplifier that the SDK's set-up of a target has opened. */
const openAw88298: OpenCodecChip = (_bus, _address, _hasMasterClock, volume) => {
	const setVolume = (value: number): void => {
		amp.volume = value;
	};
	return registerSpeaker(setVolume, SILENCE, LOUDEST, volume);
};

export default openAw88298;
