import { MAX_RATE, MIN_RATE } from "xs-mcp-firmware/hardware/sound";

/** Sound as 16-bit samples of one channel. */
export interface Sound {
	/** Hertz. */
	readonly sampleRate: number;
	readonly samples: Buffer;
}

/** Reads a sample as a number from -1 to 1, by the format's code and bits. */
const READERS: Readonly<Record<string, (data: Buffer, at: number) => number>> = {
	"1/8": (data, at) => data.readUInt8(at) / 2 ** 7 - 1,
	"1/16": (data, at) => data.readInt16LE(at) / 2 ** 15,
	"1/24": (data, at) => data.readIntLE(at, 3) / 2 ** 23,
	"1/32": (data, at) => data.readInt32LE(at) / 2 ** 31,
	"3/32": (data, at) => data.readFloatLE(at),
	"3/64": (data, at) => data.readDoubleLE(at),
};

/** Code of the format whose actual code is further on, in its subformat. */
const EXTENSIBLE = 0xfffe;

/**
 * Reads a WAV file: PCM, or floating-point samples. Several channels are mixed.
 *
 * @throws Error if devices cannot play it
 */
export function readWav(file: Buffer): Sound {
	const [format, data] = [findChunk(file, "fmt "), findChunk(file, "data")];
	if (format === undefined || format.length < 16 || data === undefined || data.length < 2) {
		throw new Error(format === undefined || data === undefined ? "not a WAV file" : "a WAV file without samples");
	}
	const [first, channels, sampleRate] = [format.readUInt16LE(0), format.readUInt16LE(2), format.readUInt32LE(4)];
	const isExtensible = first === EXTENSIBLE && format.length >= 26;
	const [code, bits] = [isExtensible ? format.readUInt16LE(24) : first, format.readUInt16LE(14)];
	const read = READERS[`${code}/${bits}`];
	if (read === undefined || channels === 0 || sampleRate < MIN_RATE || sampleRate > MAX_RATE) {
		throw new Error(`WAV: ${bits} bits in format ${code}, ${channels} channels, ${sampleRate} Hz are not supported`);
	}
	const size = bits / 8;
	const samples = Buffer.alloc(2 * Math.floor(data.length / (size * channels)));
	if (code === 1 && bits === 16 && channels === 1) {
		data.copy(samples);
		return { sampleRate, samples };
	}
	for (let at = 0; at < samples.length; at += 2) {
		let sum = 0;
		for (let channel = 0; channel < channels; channel += 1) {
			sum += read(data, ((at / 2) * channels + channel) * size);
		}
		const value = Math.max(-1, Math.min(1, sum / channels || 0));
		samples.writeInt16LE(Math.round(value * 32_767), at);
	}
	return { sampleRate, samples };
}

/** Finds a chunk of a RIFF file. One of size 0 reaches to the end: a program that writes to a pipe does not know its size. */
function findChunk(file: Buffer, id: string): Buffer | undefined {
	for (let at = 12; at + 8 <= file.length; ) {
		const size = file.readUInt32LE(at + 4);
		if (file.toString("latin1", at, at + 4) === id) {
			return file.subarray(at + 8, size === 0 ? file.length : at + 8 + size);
		}
		at += 8 + size + (size % 2);
	}
	return undefined;
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

/** Zero crossings of the filter on each side: more let less of other frequencies pass. */
const CROSSINGS = 16;

/** Changes the sample rate of a whole sound, from and to rates in hertz. */
export function resample(samples: Int16Array, from: number, to: number): Int16Array {
	const { length, read } = makeResampler(samples, from, to);
	return read(0, length);
}

/**
 * Changes the sample rate of a sound piece by piece, with a windowed sinc as the filter.
 *
 * @returns the samples of the result: their number, and what reads from the first up to, and without, the second
 */
export function makeResampler(samples: Int16Array, from: number, to: number) {
	/** Weights of the samples around a place between two of them. Few places recur: 160 from 22,050 to 24,000 Hz. */
	const filters = new Map<number, Float32Array>();

	/** @param place from 0 up to the rate of the result */
	const filterAt = (place: number): Float32Array => {
		let filter = filters.get(place);
		if (filter === undefined) {
			// Frequencies above half of the lower rate cannot be kept.
			const cutoff = Math.min(1, to / from);
			const reach = Math.ceil(CROSSINGS / cutoff);
			const after = place / to;
			filter = Float32Array.from({ length: 2 * reach }, (_, index) => weight(index + 1 - reach - after, cutoff, reach));
			filters.set(place, filter);
		}
		return filter;
	};

	const read = (begin: number, end: number): Int16Array => {
		if (from === to) {
			return samples.subarray(begin, end);
		}
		const result = new Int16Array(end - begin);
		for (let at = begin; at < end; at += 1) {
			const before = Math.floor((at * from) / to);
			const filter = filterAt(at * from - before * to);
			const first = before + 1 - filter.length / 2;
			let sum = 0;
			for (let index = 0; index < filter.length; index += 1) {
				sum += (samples[first + index] ?? 0) * (filter[index] as number);
			}
			result[at - begin] = Math.max(-32_768, Math.min(32_767, Math.round(sum)));
		}
		return result;
	};

	return { length: Math.floor((samples.length * to) / from), read };
}

/** The weight of a sample at this distance, in samples: a sinc in the window of Hann. */
function weight(distance: number, cutoff: number, reach: number): number {
	const angle = Math.PI * distance * cutoff;
	const sinc = angle === 0 ? 1 : Math.sin(angle) / angle;
	return cutoff * sinc * (0.5 + 0.5 * Math.cos((Math.PI * distance) / reach));
}
