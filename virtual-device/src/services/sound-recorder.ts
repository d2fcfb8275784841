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
			this.#onSound(encodeWav(this.#sampleRate, Buffer.concat(this.#pieces)));
		}
		this.#pieces = [];
		this.#bytes = 0;
	}
}

/** A WAV file of 16 bits and one channel: "RIFF", "fmt ", "data". */
function encodeWav(sampleRate: number, samples: Buffer): Buffer {
	const head = Buffer.alloc(44);
	head.write("RIFF", 0);
	head.writeUInt32LE(36 + samples.byteLength, 4);
	head.write("WAVEfmt ", 8);
	head.writeUInt32LE(16, 16);
	head.writeUInt16LE(1, 20);
	head.writeUInt16LE(1, 22);
	head.writeUInt32LE(sampleRate, 24);
	head.writeUInt32LE(2 * sampleRate, 28);
	head.writeUInt16LE(2, 32);
	head.writeUInt16LE(16, 34);
	head.write("data", 36);
	head.writeUInt32LE(samples.byteLength, 40);
	return Buffer.concat([head, samples]);
}
