import { MAX_RATE, MIN_RATE } from "../../hardware/sound.js";
import { joinedBytes } from "../../text/joined-bytes.js";

interface Format {
	/** Hertz. */
	readonly sampleRate: number;
	readonly channels: 1 | 2;
	readonly bits: 8 | 16;
}

/** Bytes of a chunk's id and size, of the "RIFF" chunk's beginning, and of the "fmt " chunk as far as it is read. */
const CHUNK_HEAD = 8;
const RIFF_HEAD = 12;
const FORMAT = 16;

/** Values of the "fmt " chunk's first field. An extensible format with 8 or 16 bits is PCM. */
const PCM = 1;
const EXTENSIBLE = 0xfffe;

const NOTHING = new Uint8Array(0);

/**
 * Reads a WAV file as it arrives, in pieces of any size, and gives its samples as 16 bits and one channel. Takes PCM of
 * 8 or 16 bits, one channel or two; or such samples without a file's head. Not the SDK's `wavreader`: it needs the whole file in memory.
 */
export class WavReader {
	/** Hertz; undefined until the file's head is read. */
	sampleRate: number | undefined;
	private format: Format | undefined;
	/** The kind of the next bytes: a structure of `needed` bytes, an ignored chunk, or samples. */
	private state: "riff" | "chunk" | "format" | "skip" | "samples" | "end" = "riff";
	private needed = RIFF_HEAD;
	/** Bytes of an incomplete structure or sample. */
	private begun = NOTHING;
	/** Bytes left of the chunk. */
	private left = 0;

	/** @param rawRate Hertz, for samples without a head: 16 bits, low byte first, one channel */
	constructor(rawRate?: number) {
		if (rawRate !== undefined) {
			this.sampleRate = rawRate;
			this.format = { sampleRate: rawRate, channels: 1, bits: 16 };
			this.left = Number.POSITIVE_INFINITY;
			this.state = "samples";
		}
	}

	/**
	 * @returns the samples in this piece, low byte first
	 * @throws Error if the file cannot be played
	 */
	read(piece: Uint8Array): Uint8Array {
		let bytes = joinedBytes(this.begun, piece);
		this.begun = NOTHING;
		while (bytes.byteLength > 0 && this.state !== "end") {
			if (this.state === "samples") {
				return this.samples(bytes);
			}
			if (this.state === "skip") {
				bytes = this.skip(bytes);
			} else if (bytes.byteLength < this.needed) {
				this.begun = bytes.slice();
				return NOTHING;
			} else {
				const rest = bytes.subarray(this.needed);
				this.structure(new DataView(bytes.buffer, bytes.byteOffset, this.needed));
				bytes = rest;
			}
		}
		return NOTHING;
	}

	private structure(view: DataView): void {
		if (this.state === "riff") {
			if (word(view, 0) !== "RIFF" || word(view, 8) !== "WAVE") {
				throw new Error("not a WAV file");
			}
			this.expect("chunk", CHUNK_HEAD);
		} else if (this.state === "format") {
			this.format = readFormat(view);
			this.left -= FORMAT;
			this.expect("skip", 0);
		} else {
			this.chunk(word(view, 0), view.getUint32(4, true));
		}
	}

	/** Chunks have an even number of bytes, whatever their size says. */
	private chunk(id: string, size: number): void {
		this.left = size + (size & 1);
		if (id === "fmt " && size >= FORMAT) {
			this.expect("format", FORMAT);
		} else if (id !== "data") {
			this.expect("skip", 0);
		} else if (this.format === undefined) {
			throw new Error('not a WAV file: "data" comes before "fmt "');
		} else {
			this.left = size;
			this.sampleRate = this.format.sampleRate;
			this.expect("samples", 0);
		}
	}

	private expect(state: "chunk" | "format" | "skip" | "samples", needed: number): void {
		this.state = state;
		this.needed = needed;
	}

	private skip(bytes: Uint8Array): Uint8Array {
		const count = Math.min(this.left, bytes.byteLength);
		this.left -= count;
		if (this.left === 0) {
			this.expect("chunk", CHUNK_HEAD);
		}
		return bytes.subarray(count);
	}

	/** Samples of all channels come together, as a frame. A part of one waits for the next piece. */
	private samples(bytes: Uint8Array): Uint8Array {
		const { channels, bits } = this.format as Format;
		const frame = (channels * bits) / 8;
		const count = Math.min(bytes.byteLength, this.left);
		const whole = count - (count % frame);
		this.left -= whole;
		if (this.left < frame) {
			this.state = "end";
		} else {
			this.begun = bytes.slice(whole);
		}
		const samples = bytes.subarray(0, whole);
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

/** The mean of the channels, as 16 bits. Samples of 8 bits have no sign: 128 is silence. */
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

const word = (view: DataView, at: number): string =>
	String.fromCharCode(...[0, 1, 2, 3].map((offset) => view.getUint8(at + offset)));
