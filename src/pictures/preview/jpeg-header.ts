import { deepFreeze } from "../../text/deep-freeze.js";
import { joinedBytes } from "../../text/joined-bytes.js";

/** Bytes of what the decoder needs of a header: tables and sizes take about 700. */
const MAX_BYTES = 4_096;

/** Blocks beside each other, and one below the other, that the SDK's decoder counts. */
const MAX_BLOCKS_ACROSS = 255;
const MAX_BLOCKS_DOWN = 256;

/** Markers (ITU-T T.81, table B.1). */
const BASELINE = 0xc0;
const HUFFMAN_TABLES = 0xc4;
const START_OF_SCAN = 0xda;
const QUANTIZATION_TABLES = 0xdb;
const RESTART_INTERVAL = 0xdd;
const NEEDED = deepFreeze([BASELINE, HUFFMAN_TABLES, START_OF_SCAN, QUANTIZATION_TABLES, RESTART_INTERVAL]);

/** Why a JPEG with another kind of frame is not shown. Those that are not here are as rare. */
const KINDS: Readonly<Record<number, string>> = deepFreeze({ 193: "extended", 194: "progressive", 195: "lossless" });

/** The size of a JPEG, and of the blocks that it is decoded in, in pixels. */
interface JpegFrame {
	readonly width: number;
	readonly height: number;
	readonly blockWidth: number;
	readonly blockHeight: number;
}

/** Bytes of a marker and the length behind it. */
const SEGMENT_HEAD = 4;

const DAMAGED = "JPEG header damaged";

/**
 * Reads the header of a JPEG that arrives in pieces: whether the picture can be shown, and the segments that the decoder
 * needs. The SDK's decoder does not say why it rejects a file, and would keep metadata of up to 64 KB.
 */
export class JpegHeader {
	/** Known when the header is whole. */
	frame: JpegFrame | undefined;
	/** The header, as far as the decoder needs it. */
	bytes: Uint8Array = Uint8Array.of(0xff, 0xd8);
	/** Bytes to pass over: at first the marker that every JPEG begins with. */
	private skip = 2;
	/** The received bytes of the segment, and its length once known. */
	private segment: Uint8Array = new Uint8Array(0);
	private length = SEGMENT_HEAD;

	/**
	 * @returns the rest of this piece after the header; undefined until the header is complete
	 * @throws Error that says why the picture cannot be shown
	 */
	take(piece: Uint8Array): Uint8Array | undefined {
		for (let at = 0; at < piece.byteLength; ) {
			const skipped = Math.min(this.skip, piece.byteLength - at);
			this.skip -= skipped;
			at += skipped;
			const part = piece.subarray(at, at + this.length - this.segment.byteLength);
			at += part.byteLength;
			this.segment = joinedBytes(this.segment, part);
			if (this.segment.byteLength === this.length && this.finishSegment()) {
				return piece.subarray(at);
			}
		}
		return undefined;
	}

	/** @returns whether the header is whole */
	private finishSegment(): boolean {
		const segment = this.segment;
		const [first, marker = 0, high = 0, low = 0] = segment;
		if (first !== 0xff || isAlone(marker)) {
			throw new Error(DAMAGED);
		}
		if (marker === 0xff) {
			// A marker may be preceded by any number of these.
			this.segment = segment.slice(1);
			return false;
		}
		const length = 2 + ((high << 8) | low);
		if (length < SEGMENT_HEAD) {
			throw new Error(DAMAGED);
		}
		if (!isNeeded(marker)) {
			this.skip = length - SEGMENT_HEAD;
			this.segment = new Uint8Array(0);
			return false;
		}
		if (this.bytes.byteLength + length > MAX_BYTES) {
			throw new Error("JPEG header too long");
		}
		this.length = length;
		return segment.byteLength >= length && this.keep(marker);
	}

	private keep(marker: number): boolean {
		this.bytes = joinedBytes(this.bytes, this.segment);
		if (marker === BASELINE) {
			if (this.frame !== undefined) {
				throw new Error(DAMAGED);
			}
			this.frame = readFrame(this.segment);
		}
		this.segment = new Uint8Array(0);
		this.length = SEGMENT_HEAD;
		if (marker === START_OF_SCAN && this.frame === undefined) {
			throw new Error(DAMAGED);
		}
		return marker === START_OF_SCAN;
	}
}

/** @throws Error if it begins a frame of another kind than baseline */
const isNeeded = (marker: number): boolean => {
	const isFrame = marker >= BASELINE && marker <= 0xcf && ![HUFFMAN_TABLES, 0xc8, 0xcc, BASELINE].includes(marker);
	if (isFrame) {
		const kind = KINDS[marker] ?? "rare kind of";
		throw new Error(`${kind} JPEG is not supported, expected baseline`);
	}
	return NEEDED.includes(marker);
};

/** Markers without a segment: none of them belongs into a header. */
const isAlone = (marker: number): boolean => marker <= 0x01 || (marker >= 0xd0 && marker <= 0xd9);

/** @throws Error if the decoder cannot do it */
const readFrame = (segment: Uint8Array): JpegFrame => {
	const view = new DataView(segment.buffer, segment.byteOffset, segment.byteLength);
	const components = segment[9];
	if (segment.byteLength < 19 || components !== 3) {
		throw new Error(`JPEG with ${components} colour components is not supported, expected 3`);
	}
	const [height, width] = [view.getUint16(5), view.getUint16(7)];
	const samples = [view.getUint8(11), view.getUint8(14), view.getUint8(17)];
	const [luma] = samples;
	if (![0x11, 0x21, 0x22].includes(luma as number) || samples[1] !== 0x11 || samples[2] !== 0x11) {
		const text = samples.map((each) => `${each >> 4}x${each & 15}`).join(", ");
		throw new Error(`JPEG sampling ${text} is not supported`);
	}
	const blockWidth = luma === 0x11 ? 8 : 16;
	const blockHeight = luma === 0x22 ? 16 : 8;
	const [mostWidth, mostHeight] = [MAX_BLOCKS_ACROSS * blockWidth, MAX_BLOCKS_DOWN * blockHeight];
	if (width === 0 || height === 0 || width > mostWidth || height > mostHeight) {
		throw new Error(`JPEG of ${width} x ${height} pixels (limit ${mostWidth} x ${mostHeight})`);
	}
	return { width, height, blockWidth, blockHeight };
};
