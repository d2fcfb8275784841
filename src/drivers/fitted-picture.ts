/** What pictures are drawn on: Moddable's Poco, as far as it is used. Lengths are pixels. */
export interface PictureCanvas {
	readonly width: number;
	readonly height: number;
	makeColor(red: number, green: number, blue: number): number;
	/** Begins to draw in a part of the canvas. Default: all of it. */
	begin(x?: number, y?: number, width?: number, height?: number): void;
	end(): void;
	fillRectangle(color: number, x: number, y: number, width: number, height: number): void;
	drawBitmap(bitmap: object, x: number, y: number): void;
}

export interface PictureScreen {
	readonly canvas: PictureCanvas;
	/** Degrees by which the canvas is rotated. Its bitmaps are not: they are as the screen has its pixels. */
	readonly rotation: 0 | 90 | 180 | 270;
	/** Makes a bitmap of pixels of 16 bits, in the screen's format. */
	readonly makeBitmap: (width: number, height: number, pixels: ArrayBuffer) => object;
}

/** A part of a picture: pixels in the screen's format, row by row. */
export interface PictureBlock {
	readonly x: number;
	readonly y: number;
	readonly width: number;
	readonly height: number;
	readonly pixels: Uint16Array;
}

/**
 * A picture in the middle of the screen, in its own proportions. One that is larger than the screen becomes smaller, one that is smaller stays as
 * it is. It is drawn band by band, as its blocks come: from top to bottom, in each row from left to right.
 */
export class FittedPicture {
	readonly #screen: PictureScreen;
	/** Of the picture. */
	readonly #width: number;
	readonly #height: number;
	/** Of what the screen shows of it. */
	readonly #shownWidth: number;
	readonly #shownHeight: number;
	readonly #band: Uint16Array;
	/** The first row of the band, as the screen shows it. */
	#top = 0;

	/** @param blockHeight pixels that a block is high, at most */
	constructor(screen: PictureScreen, width: number, height: number, blockHeight: number) {
		const { canvas } = screen;
		const factor = Math.max(1, width / canvas.width, height / canvas.height);
		this.#screen = screen;
		this.#width = width;
		this.#height = height;
		this.#shownWidth = Math.max(1, Math.floor(width / factor));
		this.#shownHeight = Math.max(1, Math.floor(height / factor));
		this.#band = new Uint16Array(this.#shownWidth * Math.min(blockHeight, this.#shownHeight));
		canvas.begin();
		canvas.fillRectangle(canvas.makeColor(0, 0, 0), 0, 0, canvas.width, canvas.height);
		canvas.end();
	}

	/** Whether something of a row of the picture is shown. */
	isShown(row: number): boolean {
		return this.#firstRow(row) < this.#firstRow(row + 1);
	}

	add(block: PictureBlock): void {
		const bottom = this.#firstRow(block.y + block.height);
		this.#copy(block, bottom);
		if (block.x + block.width >= this.#width) {
			this.#draw(bottom - this.#top);
			this.#top = bottom;
		}
	}

	/** Each pixel on the screen is the picture's that lies there. */
	#copy({ x, y, width, pixels }: PictureBlock, bottom: number): void {
		const right = Math.min(this.#firstColumn(x + width), this.#shownWidth);
		const left = this.#firstColumn(x);
		const band = this.#band;
		const { start, right: stepRight, down } = this.#steps(bottom - this.#top);
		for (let row = this.#top; row < bottom; row += 1) {
			const from = (Math.floor((row * this.#height) / this.#shownHeight) - y) * width - x;
			let to = start + (row - this.#top) * down + left * stepRight;
			for (let column = left; column < right; column += 1, to += stepRight) {
				band[to] = pixels[from + Math.floor((column * this.#width) / this.#shownWidth)] as number;
			}
		}
	}

	/** How to walk through the band's pixels, so that they lie as the screen has them. */
	#steps(rows: number): { start: number; right: number; down: number } {
		const width = this.#shownWidth;
		switch (this.#screen.rotation) {
			case 0:
				return { start: 0, right: 1, down: width };
			case 90:
				return { start: rows - 1, right: rows, down: -1 };
			case 180:
				return { start: width * rows - 1, right: -1, down: -width };
			case 270:
				return { start: (width - 1) * rows, right: -rows, down: 1 };
		}
	}

	#draw(rows: number): void {
		if (rows === 0) {
			return;
		}
		const { canvas, rotation, makeBitmap } = this.#screen;
		const width = this.#shownWidth;
		const x = (canvas.width - width) >> 1;
		const y = ((canvas.height - this.#shownHeight) >> 1) + this.#top;
		const isUpright = rotation === 0 || rotation === 180;
		const pixels = this.#band.buffer as ArrayBuffer;
		canvas.begin(x, y, width, rows);
		canvas.drawBitmap(isUpright ? makeBitmap(width, rows, pixels) : makeBitmap(rows, width, pixels), x, y);
		canvas.end();
	}

	/** The first row, or column, of the screen that shows this one of the picture, or a later one. */
	#firstRow(row: number): number {
		return Math.min(this.#shownHeight, Math.ceil((row * this.#shownHeight) / this.#height));
	}

	#firstColumn(column: number): number {
		return Math.ceil((column * this.#shownWidth) / this.#width);
	}
}
