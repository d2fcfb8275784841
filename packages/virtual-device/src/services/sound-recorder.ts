import { encodeWav } from "../../../gateway/src/speech/wav.js";
import type { PlayedSamples } from "./sounds.js";

/** Longest sound that is kept: 60 s at 24 kHz. A longer one is cut into several. */
const MAX_BYTES = 60 * 24_000 * 2;

/** Puts together what a device plays: one WAV file for each sound. */
export class SoundRecorder {
	readonly #onSound: (wav: Buffer) => void;
	#sampleRate = 0;
	#pieces: Buffer[] = [];
	#bytes = 0;

	constructor(onSound: (wav: Buffer) => void) {
		this.#onSound = onSound;
	}

	add({ sampleRate, samples }: PlayedSamples): void {
		if (sampleRate !== this.#sampleRate || this.#bytes + samples.byteLength > MAX_BYTES) {
			this.end();
			this.#sampleRate = sampleRate;
		}
		this.#pieces.push(samples);
		this.#bytes += samples.byteLength;
	}

	/** The sound has ended. */
	end(): void {
		if (this.#bytes > 0) {
			this.#onSound(encodeWav({ sampleRate: this.#sampleRate, samples: Buffer.concat(this.#pieces) }));
		}
		this.#pieces = [];
		this.#bytes = 0;
	}
}
