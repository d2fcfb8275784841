import type { Player, Sound, SoundFiles, Speaker } from "../../hardware/sound.js";
import type { TimerModule } from "../../hardware/timer.js";
import { type AudioOutRecord, PlayedSound } from "./played-sound.js";

interface SoundPlayerOptions {
	readonly audioOut: AudioOutRecord;
	readonly timer: TimerModule;
	/** Percent: the initial volume. 100 for an amplifier with its own volume. */
	readonly volume: number;
	/** The firmware's sound files. */
	readonly files?: SoundFiles;
}

/** The range of the audible volume in decibels. */
const RANGE = 48;

/** Plays on the platform's audio out, which is open only while a sound is played: its buffers take 28 KB of a chip's memory. */
export class SoundPlayer implements Player, Speaker {
	private readonly options: SoundPlayerOptions;
	isHeld = false;
	private sound: PlayedSound | undefined;
	private _volume: number;

	constructor(options: SoundPlayerOptions) {
		this.options = options;
		this._volume = options.volume;
	}

	get files(): SoundFiles | undefined {
		return this.options.files;
	}

	get volume(): number {
		return this._volume;
	}

	/** 0 is silent; from 1 to 100 the volume rises evenly in decibels. */
	set volume(volume: number) {
		this._volume = volume;
		this.sound?.setLoudness(loudness(volume));
	}

	get isPlaying(): boolean {
		return this.sound?.isOver === false;
	}

	begin(sampleRate: number): Sound {
		if (this.isHeld) {
			throw new Error("the microphone is in use");
		}
		this.stop();
		const { audioOut, timer } = this.options;
		this.sound = new PlayedSound(audioOut, timer, sampleRate, loudness(this._volume));
		return this.sound;
	}

	stop(): void {
		this.sound?.stop();
		this.sound = undefined;
	}

	close(): void {
		this.stop();
	}
}

/** @returns 0 to 1, for a volume in percent */
export const loudness = (volume: number): number => (volume === 0 ? 0 : 10 ** ((RANGE * (volume - 100)) / 100 / 20));
