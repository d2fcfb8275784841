import { ByteReader, joinBytes } from "../core/text/byte-reader.js";

/** Maximum bytes that are kept of a header: tables and sizes take about 700. */
const MAX_BYTES = 4_096;

/** Maximum number of blocks in a row, and in a column, that the SDK's decoder can count. */
const MAX_BLOCKS_ACROSS = 255;
const MAX_BLOCKS_DOWN = 256;

/** Markers (ITU-T T.81, table B.1). */
const BASELINE = 0xc0;
const HUFFMAN_TABLES = 0xc4;
const START_OF_SCAN = 0xda;
const QUANTIZATION_TABLES = 0xdb;
const RESTART_INTERVAL = 0xdd;
const NEEDED = Object.freeze([BASELINE, HUFFMAN_TABLES, START_OF_SCAN, QUANTIZATION_TABLES, RESTART_INTERVAL]);

/** Names of kinds of frames that cannot be shown, for the error. Others are rare. */
const KINDS: Readonly<Record<number, string>> = Object.freeze({ 193: "extended", 194: "progressive", 195: "lossless" });

/** The size of a JPEG, and of the blocks that it is decoded in, in pixels. */
interface JpegFrame {
	readonly width: number;
	readonly height: number;
	readonly blockWidth: number;
	readonly blockHeight: number;
}

/** First byte of a marker. Any number of them may precede it. */
const FILL = 0xff;

/** Bytes of a marker and the length behind it. */
const SEGMENT_HEAD = 4;

const DAMAGED = "JPEG header damaged";

/** Reads a JPEG's header in pieces, and keeps the segments that the SDK's decoder needs, without metadata. */
export class JpegHeader {
	/** Known when the header is whole. */
	frame: JpegFrame | undefined;
	/** Segments of the header that the decoder needs. */
	bytes = Uint8Array.of(0xff, 0xd8);
	private readonly reader = new ByteReader();

	constructor() {
		this.reader.skip(this.bytes.byteLength);
	}

	/**
	 * @returns the rest of this piece after the header; undefined until the header is complete
	 * @throws Error that says why the picture cannot be shown
	 */
	take(piece: Uint8Array): Uint8Array | undefined {
		this.reader.push(piece);
		let marker: number | undefined;
		do {
			marker = this.readSegment();
			if (marker === START_OF_SCAN) {
				return this.reader.readSome(piece.byteLength);
			}
		} while (marker !== undefined);
		return undefined;
	}

	/** @returns its marker; undefined until it has arrived */
	private readSegment(): number | undefined {
		const head = this.reader.peek(SEGMENT_HEAD);
		if (head === undefined) {
			return undefined;
		}
		const [first, marker = 0, high = 0, low = 0] = head;
		if (first === FILL && marker === FILL) {
			this.reader.skip(1);
			return marker;
		}
		const length = 2 + ((high << 8) | low);
		if (first !== FILL || isAlone(marker) || length < SEGMENT_HEAD) {
			throw new Error(DAMAGED);
		}
		if (!isNeeded(marker)) {
			this.reader.skip(length);
			return marker;
		}
		if (this.bytes.byteLength + length > MAX_BYTES) {
			throw new Error("JPEG header too long");
		}
		const segment = this.reader.read(length);
		if (segment === undefined) {
			return undefined;
		}
		this.bytes = joinBytes(this.bytes, segment);
		if ((marker === BASELINE && this.frame !== undefined) || (marker === START_OF_SCAN && this.frame === undefined)) {
			throw new Error(DAMAGED);
		}
		if (marker === BASELINE) {
			this.frame = readFrame(segment);
		}
		return marker;
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

/** Markers without a segment, none of which belongs in a header. */
const isAlone = (marker: number): boolean => marker <= 0x01 || (marker >= 0xd0 && marker <= 0xd9);

/** @throws Error if the decoder does not support it */
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
