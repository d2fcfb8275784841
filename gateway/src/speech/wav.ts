import { WavReader } from "../firmware.js";

/** Sound as 16-bit samples of one channel. */
export interface Sound {
	/** Hertz. */
	readonly sampleRate: number;
	readonly samples: Buffer;
}

/** Hertz of the two tones, and milliseconds of each. */
const CHIME = { tones: [880, 1_320], duration: 150, volume: 0.3 } as const;

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

/** The sound after a chime of two tones. */
export function withChime({ sampleRate, samples }: Sound): Sound {
	return { sampleRate, samples: Buffer.concat([...CHIME.tones.map((tone) => toneOf(tone, sampleRate)), samples]) };
}

/** A tone that fades out. */
function toneOf(frequency: number, sampleRate: number): Buffer {
	const count = Math.round((sampleRate * CHIME.duration) / 1_000);
	const samples = Buffer.alloc(2 * count);
	for (let at = 0; at < count; at += 1) {
		const loudness = CHIME.volume * 32_767 * (1 - at / count);
		samples.writeInt16LE(Math.round(loudness * Math.sin((2 * Math.PI * frequency * at) / sampleRate)), 2 * at);
	}
	return samples;
}
