import type { TimerModule } from "../hardware/hardware.js";
import type { Player, Sound, SoundFiles, Speaker } from "../hardware/sound.js";
import { type AudioOutClass, PlayedSound } from "./played-sound.js";

/** The range of the audible volume in decibels. */
const RANGE = 48;

/** Plays on the platform's audio out, which is open only during a sound: its buffers take 28 KB of a chip's memory. */
export class SoundPlayer implements Player, Speaker {
	/** The firmware's sound files. */
	readonly files: SoundFiles | undefined;
	isHeld = false;
	private readonly audioOut: AudioOutClass;
	private readonly timer: TimerModule;
	private sound: PlayedSound | undefined;
	private _volume: number;

	/** @param volume percent: the initial volume. 100 for an amplifier with its own volume */
	constructor(audioOut: AudioOutClass, timer: TimerModule, volume: number, files?: SoundFiles) {
		this.audioOut = audioOut;
		this.timer = timer;
		this._volume = volume;
		this.files = files;
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
		this.sound = new PlayedSound(this.audioOut, this.timer, sampleRate, loudness(this._volume));
		return this.sound;
	}

	stop(): void {
		this.sound?.stop();
		this.sound = undefined;
	}
}

/** @returns 0 to 1, for a volume in percent */
const loudness = (volume: number): number => (volume === 0 ? 0 : 10 ** ((RANGE * (volume - 100)) / 100 / 20));
