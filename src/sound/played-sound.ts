import type { TimerHandle, TimerModule } from "../hardware/hardware.js";
import type { Sound } from "../hardware/sound.js";

/** ECMA-419's audio out. */
export interface AudioOut {
	/** Part of full loudness, 0 to 1. */
	volume: number;
	start(): void;
	/** Takes at most as many bytes as `onWritable` announced. */
	write(samples: Uint8Array): void;
	close(): void;
}

export interface AudioOutOptions {
	readonly audioType: "LPCM";
	/** Hertz. */
	readonly sampleRate: number;
	readonly channels: 1;
	readonly bitsPerSample: 16;
	/** Called repeatedly after `start`, even if nothing was written. */
	readonly onWritable: (bytes: number) => void;
}

export type AudioOutClass = new (options: AudioOutOptions) => AudioOut;

/** Maximum queued bytes. Beyond it, `write` waits. */
const ENOUGH = 4_096;

/** Bytes of a piece of silence, and pieces after the last sample: more than platforms buffer, so that it is played. */
const SILENCE = 1_024;
const TAIL = 24;

/** Poll interval of the audio out, ms; and polls without progress after which it counts as broken. */
const CHECK_INTERVAL = 1_000;
const MAX_CHECKS = 3;

/** A sound on ECMA-419's audio out. */
export class PlayedSound implements Sound {
	private readonly out: AudioOut;
	private readonly timer: TimerModule;
	private readonly watch: TimerHandle;
	private readonly pieces: Uint8Array[] = [];
	private held = 0;
	/** Whether all remaining samples are in the pieces. */
	private isEnding = false;
	/** Why the sound has ended; undefined while it plays. */
	private over: Error | undefined;
	/** Settles a promise for room, or for the end. */
	private settle: ((error?: Error) => void) | undefined;
	private checks = 0;

	/**
	 * @param sampleRate Hertz
	 * @param loudness 0 to 1
	 * @throws Error as the platform's class, for an unsupported sample rate or lack of memory
	 */
	constructor(audioOut: AudioOutClass, timer: TimerModule, sampleRate: number, loudness: number) {
		this.timer = timer;
		this.out = new audioOut({
			audioType: "LPCM",
			sampleRate,
			channels: 1,
			bitsPerSample: 16,
			onWritable: (bytes) => {
				try {
					this.fill(bytes);
				} catch (error) {
					// An exception in a callback would end the machine.
					this.close(error as Error);
				}
			},
		});
		try {
			this.out.volume = loudness;
			this.out.start();
		} catch (error) {
			this.out.close();
			throw error;
		}
		this.watch = timer.repeat(() => {
			this.checks += 1;
			if (this.checks > MAX_CHECKS) {
				this.close(new Error("audio output stalled"));
			}
		}, CHECK_INTERVAL);
	}

	get isOver(): boolean {
		return this.over !== undefined;
	}

	setLoudness(loudness: number): void {
		if (this.over === undefined) {
			this.out.volume = loudness;
		}
	}

	async write(samples: Uint8Array): Promise<void> {
		this.expectOpen();
		if (samples.byteLength > 0) {
			this.pieces.push(samples);
			this.held += samples.byteLength;
		}
		if (this.held > ENOUGH) {
			await this.wait();
		}
	}

	async end(): Promise<void> {
		this.expectOpen();
		this.isEnding = true;
		this.pieces.push(...new Array<Uint8Array>(TAIL).fill(new Uint8Array(SILENCE)));
		await this.wait();
	}

	stop(): void {
		this.close(new Error("the sound was stopped"));
	}

	private expectOpen(): void {
		if (this.over !== undefined) {
			throw this.over;
		}
	}

	private wait(): Promise<void> {
		return new Promise((resolve, reject) => {
			this.settle = (error) => (error === undefined ? resolve() : reject(error));
		});
	}

	/** Plays the next pieces. If the source is too slow, the platform plays silence. */
	private fill(bytes: number): void {
		this.checks = 0;
		// The platform may call once more after close.
		let room = this.over === undefined ? bytes - (bytes % 2) : 0;
		for (let [first] = this.pieces; room > 0 && first !== undefined; [first] = this.pieces) {
			const piece = first.subarray(0, room);
			if (piece.byteLength === first.byteLength) {
				this.pieces.shift();
			} else {
				this.pieces[0] = first.subarray(room);
			}
			this.held -= piece.byteLength;
			room -= piece.byteLength;
			this.out.write(piece);
		}
		if (this.isEnding && this.pieces.length === 0) {
			this.close(new Error("the sound has ended"), true);
		} else if (this.held <= ENOUGH && !this.isEnding) {
			this.settle?.();
		}
	}

	private close(reason: Error, isWhole = false): void {
		if (this.over !== undefined) {
			return;
		}
		this.over = reason;
		this.timer.clear(this.watch);
		this.pieces.length = 0;
		this.out.close();
		this.settle?.(isWhole ? undefined : reason);
	}
}
