import { ByteReader } from "../core/text/byte-reader.js";
import { MAX_RATE, MIN_RATE, type SoundReader } from "../hardware/sound.js";

interface Format {
	/** Hertz. */
	readonly sampleRate: number;
	readonly channels: 1 | 2;
	readonly bits: 8 | 16;
}

/** Bytes of the "RIFF" chunk's beginning, of a chunk's id and size, and of the "fmt " chunk up to the sample size. */
const PART_BYTES = Object.freeze({ riff: 12, chunk: 8, format: 16 });

/** Whether 16 bits start a frame of MP3: ISO 11172-3, section 2.4.1.3. */
export const isMp3 = (start: number): boolean => (start & 0xffe6) === 0xffe2;

/** Values of the "fmt " chunk's first field. An extensible format with 8 or 16 bits is PCM. */
const PCM = 1;
const EXTENSIBLE = 0xfffe;

/**
 * Reads a WAV file as it arrives, in pieces of any size, and gives its samples as 16 bits and one channel. Takes PCM of
 * 8 or 16 bits, one channel or two; or such samples without a file's head. Not the SDK's `wavreader`: it needs the whole file in memory.
 */
export class WavReader implements SoundReader {
	/** Hertz; undefined until the file's head is read. */
	sampleRate: number | undefined;
	private readonly reader = new ByteReader();
	private format: Format | undefined;
	private part: keyof typeof PART_BYTES | "samples" = "riff";
	/** Remaining bytes of the chunk or its samples. */
	private left = 0;

	/** @param rawRate Hertz, for samples without a head: 16 bits, low byte first, one channel */
	constructor(rawRate?: number) {
		if (rawRate !== undefined) {
			this.sampleRate = rawRate;
			this.format = { sampleRate: rawRate, channels: 1, bits: 16 };
			this.left = Number.POSITIVE_INFINITY;
			this.part = "samples";
		}
	}

	read(piece: Uint8Array = new Uint8Array(0)): readonly Uint8Array[] {
		this.reader.push(piece);
		while (this.part !== "samples") {
			const bytes = this.reader.read(PART_BYTES[this.part]);
			if (bytes === undefined) {
				return [];
			}
			this.readPart(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength));
		}
		return [this.readSamples()];
	}

	private readPart(view: DataView): void {
		if (this.part === "riff") {
			if (textAt(view, 0) !== "RIFF" || textAt(view, 8) !== "WAVE") {
				const isMp3File = isMp3(view.getUint16(0)) || textAt(view, 0).startsWith("ID3");
				throw new Error(`not a WAV file${isMp3File ? ": firmware with src/sound/manifest_mp3.json plays MP3" : ""}`);
			}
			this.part = "chunk";
		} else if (this.part === "format") {
			this.format = readFormat(view);
			this.reader.skip(this.left - PART_BYTES.format);
			this.part = "chunk";
		} else {
			this.startChunk(textAt(view, 0), view.getUint32(4, true));
		}
	}

	/** Chunks have an even number of bytes, whatever their size says. */
	private startChunk(id: string, size: number): void {
		this.left = size + (size & 1);
		if (id === "fmt " && size >= PART_BYTES.format) {
			this.part = "format";
		} else if (id !== "data") {
			this.reader.skip(this.left);
		} else if (this.format === undefined) {
			throw new Error('not a WAV file: "data" comes before "fmt "');
		} else {
			this.left = size;
			this.sampleRate = this.format.sampleRate;
			this.part = "samples";
		}
	}

	/** Reads whole frames, of one sample per channel. A part of a frame waits for the next piece. */
	private readSamples(): Uint8Array {
		const { channels, bits } = this.format as Format;
		const frame = (channels * bits) / 8;
		const count = Math.min(this.reader.available, this.left);
		const samples = this.reader.readSome(count - (count % frame));
		this.left -= samples.byteLength;
		if (this.left < frame) {
			this.reader.skip(Number.POSITIVE_INFINITY);
		}
		return bits === 16 && channels === 1 ? samples : mixed(samples, channels, bits);
	}
}

/** @throws Error with the unsupported property */
const readFormat = (view: DataView): Format => {
	const encoding = view.getUint16(0, true);
	const channels = view.getUint16(2, true);
	const sampleRate = view.getUint32(4, true);
	const bits = view.getUint16(14, true);
	if (encoding !== PCM && encoding !== EXTENSIBLE) {
		throw new Error(`WAV: encoding ${encoding} is not supported, expected PCM (1)`);
	}
	if (bits !== 8 && bits !== 16) {
		throw new Error(`WAV: ${bits} bits a sample are not supported, expected 8 or 16`);
	}
	if (channels !== 1 && channels !== 2) {
		throw new Error(`WAV: ${channels} channels are not supported, expected 1 or 2`);
	}
	if (sampleRate < MIN_RATE || sampleRate > MAX_RATE) {
		throw new Error(`WAV: ${sampleRate} Hz is not supported, expected ${MIN_RATE} to ${MAX_RATE}`);
	}
	return { sampleRate, channels, bits };
};

/** Returns the mean of the channels, as 16 bits. Samples of 8 bits are unsigned: 128 is silence. */
const mixed = (bytes: Uint8Array, channels: 1 | 2, bits: 8 | 16): Uint8Array => {
	const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	const size = bits / 8;
	const count = bytes.byteLength / (size * channels);
	const samples = new DataView(new ArrayBuffer(count * 2));
	for (let at = 0, from = 0; at < count; at += 1) {
		let sum = 0;
		for (let channel = 0; channel < channels; channel += 1, from += size) {
			sum += bits === 16 ? view.getInt16(from, true) : (view.getUint8(from) - 128) << 8;
		}
		samples.setInt16(at * 2, sum / channels, true);
	}
	return new Uint8Array(samples.buffer);
};

const textAt = (view: DataView, at: number): string =>
	String.fromCharCode(...[0, 1, 2, 3].map((offset) => view.getUint8(at + offset)));
