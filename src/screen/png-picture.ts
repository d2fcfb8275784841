import { ByteReader } from "../core/text/byte-reader.js";
import { FittedPicture, type PictureScreen } from "./fitted-picture.js";
import type { PictureDecoder } from "./jpeg-picture.js";

/** Moddable's decompression. */
export interface Inflater {
	onData: (piece: ArrayBuffer) => void;
	/** Called at the end of the compressed data. */
	onEnd: () => void;
	/** @throws Error if the data is damaged */
	push(piece: Uint8Array): void;
	close(): void;
}

/** The channels of each kind of colour (PNG specification, table 11.1): grey, RGB, palette, grey and RGB with transparency. */
const CHANNELS: Readonly<Record<number, number>> = Object.freeze({ 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 });
const PALETTE = 3;

/** Filter types of a row (PNG specification, clause 9.2). */
const FILTER = Object.freeze({ none: 0, sub: 1, up: 2, average: 3, paeth: 4 } as const);

/** Bytes of the chunk IHDR (PNG specification, clause 11.2.1). */
const HEADER_BYTES = 13;

/** Maximum bytes of a row: two rows are held, and the pixels of one. */
const MAX_ROW_BYTES = 8_192;

const MAX_PIXELS = 16_384;

/** Signature of a PNG file (PNG specification, clause 5.2), in decimal. */
const SIGNATURE = "137,80,78,71,13,10,26,10";

/** Bytes of a chunk's length and type, and of its checksum, which is not checked (clause 5.3). */
const HEAD_BYTES = 8;
const CHECKSUM_BYTES = 4;

/** Bytes of a palette of 256 colours, the longest chunk that is kept. */
const MAX_CHUNK_BYTES = 768;

const DAMAGED = "PNG damaged";

interface PngFrame {
	readonly width: number;
	readonly height: number;
	/** Bits of a channel. */
	readonly depth: number;
	readonly color: number;
	readonly channels: number;
}

/**
 * A PNG that is drawn row by row as it arrives; transparent areas are dark. Not the SDK's `commodetto/ReadPNG`: it needs the
 * whole file in memory, takes no 16 bits, never returns from a file that ends early, and writes beyond its palette.
 */
export class PngPicture implements PictureDecoder {
	private readonly screen: PictureScreen;
	private readonly inflater: Inflater;
	private readonly reader = new ByteReader();
	/** The part of the file that comes next, and its length. */
	private part: "signature" | "head" | "IHDR" | "PLTE" | "IDAT" = "signature";
	private length = HEAD_BYTES;
	private palette = new Uint8Array(0);
	private frame: PngFrame | undefined;
	private picture: FittedPicture | undefined;
	/** The row that arrives, after a byte for its filter; and the row above. */
	private row = new Uint8Array(0);
	private above = new Uint8Array(0);
	private pixels = new Uint16Array(0);
	private at = 0;
	private y = 0;
	private isInflated = false;

	constructor(screen: PictureScreen, openInflater: () => Inflater) {
		this.screen = screen;
		this.inflater = openInflater();
		this.inflater.onData = (piece) => this.receive(new Uint8Array(piece));
		this.inflater.onEnd = () => {
			this.isInflated = true;
		};
	}

	write(piece: Uint8Array): void {
		this.reader.push(piece);
		while (this.reader.available > 0 && this.readPart()) {
			// Reads all parts that have arrived.
		}
	}

	end(): void {
		if (this.frame === undefined || this.y < this.frame.height) {
			throw new Error("PNG damaged or truncated");
		}
	}

	close(): void {
		this.inflater.close();
	}

	/** @returns whether enough bytes had arrived to read some */
	private readPart(): boolean {
		const { reader, part } = this;
		const bytes = part === "IDAT" ? reader.readSome(this.length) : reader.read(this.length);
		if (bytes === undefined) {
			return false;
		}
		this.length -= bytes.byteLength;
		if (part === "head") {
			this.startChunk(bytes);
			return true;
		}
		if (part === "signature" && bytes.join(",") !== SIGNATURE) {
			throw new Error("the file is neither a JPEG nor a PNG");
		}
		if (part === "IHDR") {
			this.startPicture(readFrame(bytes));
		} else if (part === "PLTE") {
			this.palette = bytes.slice();
		} else if (part === "IDAT" && !this.isInflated) {
			this.inflater.push(bytes);
		}
		if (this.length === 0) {
			reader.skip(part === "signature" ? 0 : CHECKSUM_BYTES);
			this.part = "head";
			this.length = HEAD_BYTES;
		}
		return true;
	}

	private startChunk(head: Uint8Array): void {
		const length = new DataView(head.buffer, head.byteOffset).getUint32(0);
		const type = String.fromCharCode(...head.subarray(4));
		this.length = HEAD_BYTES;
		if (type === "IEND") {
			this.reader.skip(Number.POSITIVE_INFINITY);
		} else if (type === "IHDR" || type === "PLTE" || type === "IDAT") {
			const isKept = type !== "IDAT";
			if (isKept ? length === 0 || length > MAX_CHUNK_BYTES : this.frame === undefined) {
				throw new Error(DAMAGED);
			}
			this.part = type;
			this.length = length;
		} else {
			this.reader.skip(length + CHECKSUM_BYTES);
		}
	}

	private startPicture(frame: PngFrame): void {
		if (this.frame !== undefined) {
			throw new Error(DAMAGED);
		}
		const rowBytes = Math.ceil((frame.width * frame.channels * frame.depth) / 8);
		if (rowBytes > MAX_ROW_BYTES) {
			throw new Error(`PNG rows of ${rowBytes} bytes (limit ${MAX_ROW_BYTES})`);
		}
		this.frame = frame;
		this.row = new Uint8Array(1 + rowBytes);
		this.above = new Uint8Array(1 + rowBytes);
		this.pixels = new Uint16Array(frame.width);
		this.picture = new FittedPicture(this.screen, frame.width, frame.height, 1);
	}

	private receive(bytes: Uint8Array): void {
		const { height } = this.frame as PngFrame;
		for (let from = 0; from < bytes.byteLength && this.y < height; ) {
			const part = bytes.subarray(from, from + this.row.byteLength - this.at);
			this.row.set(part, this.at);
			this.at += part.byteLength;
			from += part.byteLength;
			if (this.at === this.row.byteLength) {
				this.finishRow();
			}
		}
	}

	private finishRow(): void {
		const { width, channels, depth } = this.frame as PngFrame;
		const row = this.row;
		unfilter(row[0] as number, row.subarray(1), this.above.subarray(1), Math.ceil((channels * depth) / 8));
		if (this.picture?.isShown(this.y)) {
			this.convert();
			this.picture.add({ x: 0, y: this.y, width, height: 1 }, this.pixels);
		}
		this.row = this.above;
		this.above = row;
		this.at = 0;
		this.y += 1;
	}

	private convert(): void {
		const { width, color, channels, depth } = this.frame as PngFrame;
		const { canvas } = this.screen;
		const palette = this.palette;
		for (let x = 0; x < width; x += 1) {
			const first = x * channels;
			if (color === PALETTE) {
				const at = 3 * this.sample(first, depth);
				this.pixels[x] = canvas.makeColor(palette[at] ?? 0, palette[at + 1] ?? 0, palette[at + 2] ?? 0);
				continue;
			}
			const red = this.level(first, depth);
			const green = channels < 3 ? red : this.level(first + 1, depth);
			const blue = channels < 3 ? red : this.level(first + 2, depth);
			const light = channels % 2 === 0 ? this.level(first + channels - 1, depth) / 255 : 1;
			this.pixels[x] = canvas.makeColor(Math.round(red * light), Math.round(green * light), Math.round(blue * light));
		}
	}

	/** Returns a channel's value, scaled to 0 to 255. */
	private level(index: number, depth: number): number {
		return depth >= 8 ? this.sample(index, depth) : (this.sample(index, depth) * 255) / ((1 << depth) - 1);
	}

	/** Returns a channel's value; of 16 bits only the upper 8. */
	private sample(index: number, depth: number): number {
		const bit = index * depth;
		const byte = this.row[1 + (bit >> 3)] as number;
		return depth >= 8 ? byte : (byte >> (8 - depth - (bit & 7))) & ((1 << depth) - 1);
	}
}

/** @throws Error if it cannot be shown */
const readFrame = (bytes: Uint8Array): PngFrame => {
	if (bytes.byteLength !== HEADER_BYTES) {
		throw new Error(DAMAGED);
	}
	const view = new DataView(bytes.buffer, bytes.byteOffset);
	const [width, height, depth, color] = [view.getUint32(0), view.getUint32(4), view.getUint8(8), view.getUint8(9)];
	const channels = CHANNELS[color];
	if (channels === undefined || ![1, 2, 4, 8, 16].includes(depth)) {
		throw new Error(DAMAGED);
	}
	if (width === 0 || height === 0 || width > MAX_PIXELS || height > MAX_PIXELS) {
		throw new Error(`PNG of ${width} x ${height} pixels (limit ${MAX_PIXELS} x ${MAX_PIXELS})`);
	}
	if (view.getUint8(12) !== 0) {
		throw new Error("interlaced PNG is not supported");
	}
	return { width, height, depth, color, channels };
};

/**
 * Reverses the filter of a row in place (PNG specification, clause 9). A loop for each filter: a call for each byte
 * would take several times as long on XS.
 *
 * @param filter one of {@link FILTER}
 * @param above the row above; zeros above the first one
 * @param distance bytes from a pixel to the one before
 * @throws Error if there is no such filter
 */
const unfilter = (filter: number, row: Uint8Array, above: Uint8Array, distance: number): void => {
	switch (filter) {
		case FILTER.none:
			return;
		case FILTER.sub:
			for (let at = distance; at < row.length; at += 1) {
				row[at] = (row[at] as number) + (row[at - distance] as number);
			}
			return;
		case FILTER.up:
			for (let at = 0; at < row.length; at += 1) {
				row[at] = (row[at] as number) + (above[at] as number);
			}
			return;
		case FILTER.average:
			for (let at = 0; at < row.length; at += 1) {
				row[at] = (row[at] as number) + (((row[at - distance] ?? 0) + (above[at] as number)) >> 1);
			}
			return;
		case FILTER.paeth:
			for (let at = 0; at < row.length; at += 1) {
				const nearest = paeth(row[at - distance] ?? 0, above[at] as number, above[at - distance] ?? 0);
				row[at] = (row[at] as number) + nearest;
			}
			return;
		default:
			throw new Error(DAMAGED);
	}
};

/** Paeth predictor (PNG specification, clause 9.4): the neighbour that is nearest to left + up - corner. */
const paeth = (left: number, up: number, corner: number): number => {
	const toLeft = Math.abs(up - corner);
	const toUp = Math.abs(left - corner);
	const toCorner = Math.abs(left + up - 2 * corner);
	if (toLeft <= toUp && toLeft <= toCorner) {
		return left;
	}
	return toUp <= toCorner ? up : corner;
};
