import type { Canvas, Rectangle } from "./brush.js";

/** A canvas that takes bitmaps. */
export interface PictureCanvas extends Omit<Canvas, "blendRectangle" | "drawText" | "getTextWidth"> {
	drawBitmap(bitmap: object, x: number, y: number): void;
}

export interface PictureScreen {
	readonly canvas: PictureCanvas;
	/** Degrees by which the canvas is rotated. Bitmaps are not rotated with it: they have the screen's pixel order. */
	readonly rotation: 0 | 90 | 180 | 270;
	/** Makes a bitmap of pixels of 16 bits, in the screen's format. */
	readonly makeBitmap: (width: number, height: number, pixels: ArrayBuffer) => object;
}

/** A picture in the middle of the screen, scaled down to fit. It is drawn band by band, as its blocks arrive. */
export class FittedPicture {
	private readonly screen: PictureScreen;
	/** Size of the picture, in pixels. */
	private readonly width: number;
	private readonly height: number;
	/** Size of the picture on the screen. */
	private readonly shownWidth: number;
	private readonly shownHeight: number;
	private readonly band: Uint16Array;
	/** The first row of the band, as the screen shows it. */
	private top = 0;
	/** The row after the band's last one. */
	private bottom = 0;
	/** Index of the band's first pixel, and the steps to the next pixel to the right and below. */
	private start = 0;
	private stepRight = 1;
	private stepDown = 0;

	/** @param blockHeight maximum height of a block, in pixels */
	constructor(screen: PictureScreen, width: number, height: number, blockHeight: number) {
		const { canvas } = screen;
		const factor = Math.max(1, width / canvas.width, height / canvas.height);
		this.screen = screen;
		this.width = width;
		this.height = height;
		this.shownWidth = Math.max(1, Math.round(width / factor));
		this.shownHeight = Math.max(1, Math.round(height / factor));
		this.band = new Uint16Array(this.shownWidth * Math.min(blockHeight, this.shownHeight));
		canvas.begin();
		canvas.fillRectangle(canvas.makeColor(0, 0, 0), 0, 0, canvas.width, canvas.height);
		canvas.end();
	}

	/** Whether a row of the picture is shown after scaling. */
	isShown(row: number): boolean {
		return this.firstRow(row) < this.firstRow(row + 1);
	}

	/** @param pixels of the block, in the screen's format, row by row */
	add({ x, y, width, height }: Rectangle, pixels: Uint16Array): void {
		if (x === 0) {
			this.bottom = this.firstRow(y + height);
			this.turn(this.bottom - this.top);
		}
		const right = this.firstColumn(x + width);
		for (let row = this.top; row < this.bottom; row += 1) {
			const from = (Math.floor((row * this.height) / this.shownHeight) - y) * width - x;
			this.copy(pixels, from, row - this.top, this.firstColumn(x), right);
		}
		if (x + width >= this.width) {
			this.draw(this.bottom - this.top);
			this.top = this.bottom;
		}
	}

	/** Copies pixels to a row of the band, scaled by nearest neighbour. */
	private copy(pixels: Uint16Array, from: number, row: number, left: number, right: number): void {
		const band = this.band;
		const step = this.stepRight;
		const width = this.width;
		const shownWidth = this.shownWidth;
		let to = this.start + row * this.stepDown + left * step;
		for (let column = left; column < right; column += 1, to += step) {
			band[to] = pixels[from + Math.floor((column * width) / shownWidth)] as number;
		}
	}

	/** Sets the steps through the band's pixels for the screen's rotation. */
	private turn(rows: number): void {
		const width = this.shownWidth;
		const [start, right, down] = {
			0: [0, 1, width],
			90: [rows - 1, rows, -1],
			180: [width * rows - 1, -1, -width],
			270: [(width - 1) * rows, -rows, 1],
		}[this.screen.rotation] as [number, number, number];
		this.start = start;
		this.stepRight = right;
		this.stepDown = down;
	}

	private draw(rows: number): void {
		if (rows === 0) {
			return;
		}
		const { canvas, rotation, makeBitmap } = this.screen;
		const width = this.shownWidth;
		const x = (canvas.width - width) >> 1;
		const y = ((canvas.height - this.shownHeight) >> 1) + this.top;
		const isUpright = rotation === 0 || rotation === 180;
		const pixels = this.band.buffer as ArrayBuffer;
		canvas.begin(x, y, width, rows);
		canvas.drawBitmap(isUpright ? makeBitmap(width, rows, pixels) : makeBitmap(rows, width, pixels), x, y);
		canvas.end();
	}

	/** Returns the first row of the scaled picture that shows this row of the picture, or a later one. */
	private firstRow(row: number): number {
		return Math.min(this.shownHeight, Math.ceil((row * this.shownHeight) / this.height));
	}

	private firstColumn(column: number): number {
		return Math.ceil((column * this.shownWidth) / this.width);
	}
}
