import { deepFreeze } from "../../text/deep-freeze.js";
import { BitWriter } from "./bit-writer.js";
import { transform } from "./cosine-transform.js";
import { type HuffmanCodes, type JpegTables, makeTables } from "./jpeg-tables.js";

/** A picture whose pixels can be read again and again: RGB565, each a number, red in the upper bits. */
export interface Pixels {
	readonly width: number;
	readonly height: number;
	/** The pixels of some rows. They are used before the next call. */
	read(y: number, rows: number): Uint16Array;
}

/** Pixels that are encoded at a time are a square of this size: four blocks of brightness, one of each colour. */
const SQUARE = 16;

/** Ends a file. */
const END = deepFreeze([0xff, 0xd9]);

/** Encodes pixels as a baseline JPEG (ITU-T T.81), square by square. The SDK has no encoder outside the camera driver. */
export class JpegEncoder {
	readonly #pixels: Pixels;
	readonly #tables: JpegTables;
	readonly #out = new BitWriter();
	readonly #blueness = new Float32Array(64);
	readonly #redness = new Float32Array(64);
	/** The blocks of a square: four of brightness, then the colours. */
	readonly #blocks = [...Array.from({ length: 4 }, () => new Float32Array(64)), this.#blueness, this.#redness];
	/** The last block's first number, of brightness and both colours. */
	readonly #last = [0, 0, 0];
	#x = 0;
	#y = 0;
	/** The rows that the squares are cut out of. */
	#rows: Uint16Array = new Uint16Array(0);
	#state: "header" | "squares" | "end" = "header";

	/** @param quality 1 to 100 */
	constructor(pixels: Pixels, quality: number) {
		this.#pixels = pixels;
		this.#tables = makeTables(pixels.width, pixels.height, quality);
	}

	/** Bytes that are encoded, and not taken. */
	get available(): number {
		return this.#out.byteLength;
	}

	/** Takes some of these bytes, at most so many. */
	take(count: number): Uint8Array {
		return this.#out.take(count);
	}

	/** @returns false if all was encoded before */
	encodeMore(): boolean {
		switch (this.#state) {
			case "header":
				this.#out.writeBytes(this.#tables.header);
				this.#state = "squares";
				return true;
			case "squares":
				this.#encodeSquare();
				return true;
			case "end":
				return false;
		}
	}

	#encodeSquare(): void {
		const { width, height } = this.#pixels;
		if (this.#x === 0) {
			this.#rows = this.#pixels.read(this.#y, Math.min(SQUARE, height - this.#y));
		}
		this.#cut();
		for (let index = 0; index < this.#blocks.length; index += 1) {
			this.#encodeBlock(this.#blocks[index] as Float32Array, Math.max(0, index - 3));
		}
		this.#x += SQUARE;
		if (this.#x >= width) {
			this.#x = 0;
			this.#y += SQUARE;
		}
		if (this.#y >= height) {
			this.#out.align();
			this.#out.writeBytes(END);
			this.#state = "end";
		}
	}

	/** Fills the blocks from a square of pixels. Beyond the picture's edge its last pixels are repeated. */
	#cut(): void {
		const { width, height } = this.#pixels;
		const rows = this.#rows;
		this.#blueness.fill(0);
		this.#redness.fill(0);
		for (let row = 0; row < SQUARE; row += 1) {
			const from = Math.min(row, height - this.#y - 1) * width;
			for (let column = 0; column < SQUARE; column += 1) {
				this.#add(rows[from + Math.min(this.#x + column, width - 1)] as number, row, column);
			}
		}
	}

	/** JFIF's colours: brightness, and how much bluer and redder than that, each from -128 to 127. */
	#add(pixel: number, row: number, column: number): void {
		const red = (pixel >> 8) & 0xf8;
		const green = (pixel >> 3) & 0xfc;
		const blue = (pixel << 3) & 0xf8;
		const brightness = 0.299 * red + 0.587 * green + 0.114 * blue;
		const block = this.#blocks[(row >> 3) * 2 + (column >> 3)] as Float32Array;
		block[(row & 7) * 8 + (column & 7)] = brightness - 128;
		// A colour is the mean of four pixels.
		const at = (row >> 1) * 8 + (column >> 1);
		this.#blueness[at] = (this.#blueness[at] as number) + (blue - brightness) * (0.564 / 4);
		this.#redness[at] = (this.#redness[at] as number) + (red - brightness) * (0.713 / 4);
	}

	/** @param component 0 for brightness, 1 and 2 for the colours */
	#encodeBlock(block: Float32Array, component: number): void {
		const { zigzag, factors, dc, ac } = this.#tables;
		transform(block);
		const first = Math.round((block[0] as number) * (factors[0] as number));
		const difference = first - (this.#last[component] as number);
		this.#last[component] = first;
		this.#writeNumber(dc, 0, difference);
		let zeros = 0;
		for (let index = 1; index < 64; index += 1) {
			const at = zigzag[index] as number;
			const value = Math.round((block[at] as number) * (factors[at] as number));
			if (value === 0) {
				zeros += 1;
				continue;
			}
			for (; zeros > 15; zeros -= 16) {
				this.#out.write(ac.codes[0xf0] as number, ac.lengths[0xf0] as number);
			}
			this.#writeNumber(ac, zeros, value);
			zeros = 0;
		}
		if (zeros > 0) {
			this.#out.write(ac.codes[0] as number, ac.lengths[0] as number);
		}
	}

	/** Writes how many zeros come before a number and how long it is, then the number (F.1.2). */
	#writeNumber({ codes, lengths }: HuffmanCodes, zeros: number, value: number): void {
		const bits = 32 - Math.clz32(Math.abs(value));
		const symbol = zeros * 16 + bits;
		this.#out.write(codes[symbol] as number, lengths[symbol] as number);
		this.#out.write(value < 0 ? value + (1 << bits) - 1 : value, bits);
	}
}
