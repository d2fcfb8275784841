import { WavReader } from "../firmware.js";

/** Sound as 16-bit samples of one channel. */
export interface Sound {
	/** Hertz. */
	readonly sampleRate: number;
	readonly samples: Buffer;
}

/**
 * Reads a WAV file. The sizes in its head may be unknown, as in the output of a program that writes to a pipe.
 *
 * @throws Error if devices cannot play it
 */
export function readWav(file: Buffer): Sound {
	const reader = new WavReader();
	const samples = Buffer.from(reader.read(file));
	if (reader.sampleRate === undefined || samples.length === 0) {
		throw new Error("not a WAV file, or one without samples");
	}
	return { sampleRate: reader.sampleRate, samples };
}

/** A WAV file of 16 bits and one channel: "RIFF", "fmt ", "data". */
export function encodeWav({ sampleRate, samples }: Sound): Buffer {
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
