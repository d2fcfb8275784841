import type { AudioOut, AudioOutOptions } from "../../src/sound/played-sound.js";

/** ECMA-419's audio out: the test plays the clock. By the rules of the SDK: it takes what there is room for, or throws. */
export class FakeAudioOut implements AudioOut {
	static readonly made: FakeAudioOut[] = [];
	readonly options: AudioOutOptions;
	readonly written: number[] = [];
	volume = 1;
	started = false;
	closed = false;
	#room = 0;

	constructor(options: AudioOutOptions) {
		if (options.sampleRate > 48_000) {
			throw new RangeError("invalid sample rate");
		}
		this.options = options;
		FakeAudioOut.made.push(this);
	}

	start(): void {
		this.started = true;
	}

	write(samples: Uint8Array): void {
		if (!this.started || this.closed || samples.byteLength > this.#room || samples.byteLength % 2 !== 0) {
			throw new Error(`${samples.byteLength} bytes written where ${this.#room} may be`);
		}
		this.#room -= samples.byteLength;
		this.written.push(...samples);
	}

	close(): void {
		this.closed = true;
	}

	ask(bytes: number): void {
		this.#room = bytes;
		this.options.onWritable(bytes);
	}
}
