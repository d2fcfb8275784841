import type { Rectangle } from "../../src/screen/brush.js";
import type { PictureCanvas, PictureScreen } from "../../src/screen/fitted-picture.js";
import type { JpegDecoder } from "../../src/screen/jpeg-picture.js";

interface FakeBitmap {
	readonly width: number;
	readonly height: number;
	readonly pixels: Uint16Array;
}

/** A screen of pixels that are numbers, which Poco would draw on: bitmaps are turned as Poco places them. */
export class FakePictureScreen implements PictureScreen {
	readonly rotation: 0 | 90 | 180 | 270;
	readonly canvas: PictureCanvas;
	readonly rows: number[][];

	constructor(width: number, height: number, rotation: 0 | 90 | 180 | 270 = 0) {
		this.rotation = rotation;
		this.rows = Array.from({ length: height }, () => new Array<number>(width).fill(-1));
		this.canvas = {
			width,
			height,
			makeColor: (red, green, blue) => ((red & 0xf8) << 8) | ((green & 0xfc) << 3) | (blue >> 3),
			begin() {},
			end() {},
			fillRectangle: (color) => {
				for (const row of this.rows) {
					row.fill(color);
				}
			},
			drawBitmap: (bitmap, x, y) => this.#place(bitmap as FakeBitmap, x, y),
		};
	}

	makeBitmap(width: number, height: number, pixels: ArrayBuffer): object {
		return { width, height, pixels: new Uint16Array(pixels) };
	}

	/** Position of a bitmap's pixel on the screen, by Poco's `rotateCoordinates`. */
	#place({ width, height, pixels }: FakeBitmap, x: number, y: number): void {
		for (let at = 0; at < width * height; at += 1) {
			const [column, row] = [at % width, Math.floor(at / width)];
			const [right, down] = {
				0: [column, row],
				90: [row, width - 1 - column],
				180: [width - 1 - column, height - 1 - row],
				270: [height - 1 - row, column],
			}[this.rotation] as [number, number];
			(this.rows[y + down] as number[])[x + right] = pixels[at] as number;
		}
	}
}

/** Stands in for the SDK's decoder: a byte behind the header is a block, whose pixels all have its value. */
export class FakeJpeg implements JpegDecoder {
	readonly buffers: ArrayBuffer[] = [];
	readonly pixels = new Uint16Array(256).buffer;
	readonly #headerBytes: number;
	readonly #across: number;
	readonly #size: number;
	#isWhole = false;
	#block = 0;
	#used = 0;

	constructor(headerBytes: number, across: number, size: number) {
		this.#headerBytes = headerBytes;
		this.#across = across;
		this.#size = size;
	}

	push(piece?: ArrayBuffer): void {
		if (piece === undefined) {
			this.#isWhole = true;
			return;
		}
		const skipped = this.#used === 0 ? this.#headerBytes : 0;
		this.#used += skipped;
		this.buffers.push(piece.slice(skipped));
	}

	get ready(): boolean {
		return this.#isWhole || this.buffers.length > 0;
	}

	read(): Rectangle {
		const [buffer] = this.buffers;
		if (buffer === undefined) {
			throw new Error("jpeg read failed");
		}
		new Uint16Array(this.pixels).fill(new Uint8Array(buffer)[0] as number);
		this.buffers[0] = buffer.slice(1);
		if (buffer.byteLength === 1) {
			this.buffers.shift();
		}
		const size = this.#size;
		const block = { x: (this.#block % this.#across) * size, y: Math.floor(this.#block / this.#across) * size };
		this.#block += 1;
		return { ...block, width: size, height: size };
	}
}
