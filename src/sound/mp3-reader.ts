import { ByteReader } from "../core/text/byte-reader.js";
import type { SoundReader } from "../hardware/sound.js";
import { isMp3, WavReader } from "./wav-reader.js";

/** Decodes frames of MPEG audio, layer III, as the SDK's class does. */
export interface Mp3Decoder {
	/**
	 * @param frame a frame, and the {@link GUARD} bytes after it
	 * @param samples receives the samples, mixed to one channel, and as a property their number
	 * @returns bytes of the frame; 0 if it cannot be decoded. For damaged content the SDK's class repeats samples.
	 */
	decode(frame: Uint8Array, samples: Samples): number;
	close(): void;
}

type Samples = Uint8Array & { samples?: number };

interface Frame {
	/** Hertz. */
	readonly sampleRate: number;
	/** Bytes, with its header. */
	readonly length: number;
}

const HEADER_BYTES = 4;

/** Bytes after a frame that the decoder also reads: the next frame says how much of this one belongs to it. */
const GUARD = 8;

/** Bytes of the buffer. A frame has up to 1,441; libmad reads up to 2,048 after a damaged one (CVE-2017-8374). */
const INPUT_BYTES = 4_096;

/** Bytes of the samples of the longest frame. */
const MAX_SAMPLE_BYTES = 2 * 1_152;

/** Maximum bytes skipped without a frame: damage, a tag at the end, and the cut first frame of a stream. */
const MAX_SKIPPED = 65_536;

/** Kilobits per second by a header's four bits, for MPEG 1, and for MPEG 2 and 2.5. Free formats are not supported. */
const KILOBITS: readonly number[] = Object.freeze([0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]);
const LOW_KILOBITS: readonly number[] = Object.freeze([0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]);

/** Hertz of MPEG 1, by a header's two bits. */
const RATES: readonly number[] = Object.freeze([44_100, 48_000, 32_000]);

/** Divisors of these rates, by the two bits of a header's version: MPEG 2.5, none, MPEG 2, MPEG 1. */
const DIVISORS: readonly number[] = Object.freeze([4, 0, 2, 1]);

/** Bytes of the head of an ID3v2 tag, and of a foot if its flag is set. */
const TAG_BYTES = 10;
const TAG_FLAGS = 5;
const HAS_FOOT = 0x10;
const MAX_TAG_BYTES = 2 ** 24;

/** Reads the frames of an MP3 file or stream, or a WAV file, as it arrives. Skips other bytes, up to {@link MAX_SKIPPED}. */
export class Mp3Reader implements SoundReader {
	private readonly openDecoder: () => Mp3Decoder;
	private readonly reader = new ByteReader();
	private readonly input = new Uint8Array(INPUT_BYTES);
	/** Reader of a WAV file, which is recognised by its first bytes, not by its name. */
	private wav: WavReader | undefined;
	private decoder: Mp3Decoder | undefined;
	/** Hertz, of the first frame. Frames of other rates are not played. */
	private rate: number | undefined;
	/** Whether the unread bytes follow a frame. */
	private isInStep = false;
	/** Bytes that were skipped since the last frame. */
	private skipped = 0;

	constructor(openDecoder: () => Mp3Decoder) {
		this.openDecoder = openDecoder;
	}

	get sampleRate(): number | undefined {
		return this.wav === undefined ? this.rate : this.wav.sampleRate;
	}

	read(piece?: Uint8Array): Iterable<Uint8Array> {
		const { reader } = this;
		if (this.wav !== undefined) {
			return this.wav.read(piece);
		}
		reader.push(piece ?? new Uint8Array(GUARD));
		if (this.decoder === undefined) {
			const head = reader.peek(TAG_BYTES);
			if (head === undefined) {
				return [];
			}
			const mark = String.fromCharCode(...head.subarray(0, 4));
			if (mark === "RIFF") {
				this.wav = new WavReader();
				return this.wav.read(reader.readSome(reader.available));
			}
			this.decoder = this.openDecoder();
			if (mark.startsWith("ID3")) {
				this.skipTag(head);
			}
		}
		return this.decode(this.decoder, piece === undefined);
	}

	close(): void {
		this.decoder?.close();
	}

	/** Skips an ID3v2 tag. */
	private skipTag(head: Uint8Array): void {
		const size = head.subarray(TAG_BYTES - 4).reduce((sum, byte) => sum * 128 + (byte & 127), 0);
		if (size > MAX_TAG_BYTES) {
			throw new Error(`MP3: tag of ${size} bytes (limit ${MAX_TAG_BYTES})`);
		}
		const foot = ((head[TAG_FLAGS] as number) & HAS_FOOT) === 0 ? 0 : TAG_BYTES;
		this.reader.skip(TAG_BYTES + size + foot);
	}

	private *decode(decoder: Mp3Decoder, isEnd: boolean): Iterable<Uint8Array> {
		for (let frame = this.findFrame(); frame !== undefined; frame = this.findFrame()) {
			const samples: Samples = new Uint8Array(MAX_SAMPLE_BYTES);
			const bytes = this.input.subarray(0, frame.length + GUARD);
			bytes.set(this.reader.peek(bytes.byteLength) as Uint8Array);
			this.isInStep = true;
			this.skip(frame.length);
			if (decoder.decode(bytes, samples) === frame.length) {
				this.skipped = 0;
				this.rate = frame.sampleRate;
				yield samples.subarray(0, 2 * (samples.samples ?? 0));
			}
		}
		if (isEnd && this.rate === undefined) {
			throw new Error("neither a WAV nor an MP3 file");
		}
	}

	/** Skips other bytes. @returns the next frame, whole; undefined until it has arrived */
	private findFrame(): Frame | undefined {
		const { byteLength, buffer, byteOffset } = this.reader.peek(this.reader.available) as Uint8Array;
		const view = new DataView(buffer, byteOffset, byteLength);
		const frameAt = (at: number): Frame | undefined => {
			const frame = at + HEADER_BYTES <= byteLength ? readHeader(view.getUint32(at)) : undefined;
			return frame?.sampleRate === (this.rate ?? frame?.sampleRate) ? frame : undefined;
		};
		for (let at = 0; at + HEADER_BYTES <= byteLength; at += 1) {
			const frame = frameAt(at);
			const end = at + (frame?.length ?? 0);
			const isWhole = end + GUARD <= byteLength;
			// Samples may look like a header, but rarely like two.
			if (frame !== undefined && (!isWhole || this.isInStep || frameAt(end)?.sampleRate === frame.sampleRate)) {
				this.skip(at);
				return isWhole ? frame : undefined;
			}
			this.isInStep = false;
		}
		this.skip(Math.max(0, byteLength - HEADER_BYTES + 1));
		return undefined;
	}

	/** @throws Error if there is no frame within {@link MAX_SKIPPED} bytes */
	private skip(count: number): void {
		this.reader.skip(count);
		this.skipped += count;
		if (this.skipped > MAX_SKIPPED) {
			throw new Error(`neither a WAV nor an MP3 file: no frame within ${MAX_SKIPPED} bytes`);
		}
	}
}

/** @returns undefined if it is not a header of layer III */
const readHeader = (header: number): Frame | undefined => {
	const divisor = DIVISORS[(header >>> 19) & 3] as number;
	const [kilobits, bytes] = divisor === 1 ? [KILOBITS, 144_000] : [LOW_KILOBITS, 72_000];
	const rate = kilobits[(header >>> 12) & 15] ?? 0;
	const sampleRate = (RATES[(header >>> 10) & 3] ?? 0) / divisor;
	if (!isMp3(header >>> 16) || divisor === 0 || rate === 0 || sampleRate === 0) {
		return undefined;
	}
	return { sampleRate, length: Math.floor((bytes * rate) / sampleRate) + ((header >>> 9) & 1) };
};
