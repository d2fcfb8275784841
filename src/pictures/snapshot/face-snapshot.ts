import type { ByteSource, Snapshot } from "../../hardware/pictures.js";
import type { Canvas, Font } from "../face/brush.js";
import { EncodedJpeg } from "../jpeg/encoded-jpeg.js";

/** A canvas in memory, for a band of the screen. */
export interface BandCanvas extends Canvas {
	/** Moves what is drawn, between `begin` and `end`; without numbers, moves it back. */
	origin(x?: number, y?: number): void;
	close(): void;
}

/** A canvas for a band, and its pixels once something is drawn: RGB565, each a number. */
interface Band {
	readonly canvas: BandCanvas;
	readonly pixels: Uint16Array;
}

/** A face that can be drawn again, elsewhere. */
interface RepeatedFace {
	readonly width: number;
	readonly height: number;
	readonly isCovered: boolean;
	/** @returns draws the face as it is now, whenever it is called */
	keep(): (canvas: Canvas) => void;
}

/** Rows that are drawn at a time: as many as the encoder wants. */
const BAND_ROWS = 16;

/**
 * Takes pictures of a face. No screen can be read back, so the face is drawn once more, in memory: band by band, as the JPEG is
 * read.
 */
export class FaceSnapshot implements Snapshot {
	readonly #face: RepeatedFace;
	readonly #openBand: (width: number, rows: number) => Band;

	constructor(face: RepeatedFace, openBand: (width: number, rows: number) => Band) {
		this.#face = face;
		this.#openBand = openBand;
	}

	/** Rejects if a picture covers the face. */
	async take(quality: number): Promise<ByteSource> {
		const { width, height, isCovered } = this.#face;
		if (isCovered) {
			throw new Error("the screen shows a preview, which cannot be read back");
		}
		const draw = this.#face.keep();
		const { canvas, pixels } = this.#openBand(width, BAND_ROWS);
		const read = (y: number, rows: number): Uint16Array => {
			draw(new ShiftedCanvas(canvas, { width, height }, y));
			return pixels.subarray(0, rows * width);
		};
		let isOpen = true;
		const release = (): void => {
			if (isOpen) {
				isOpen = false;
				canvas.close();
			}
		};
		return new EncodedJpeg({ width, height, read }, quality, release);
	}
}

/** A canvas of the screen's size that keeps only one band in memory. */
class ShiftedCanvas implements Canvas {
	readonly width: number;
	readonly height: number;
	readonly #band: BandCanvas;
	/** The band's first row. */
	readonly #top: number;
	/** Whether what is drawn now has a part in the band. */
	#isSeen = false;

	constructor(band: BandCanvas, { width, height }: { width: number; height: number }, top: number) {
		this.width = width;
		this.height = height;
		this.#band = band;
		this.#top = top;
	}

	makeColor(red: number, green: number, blue: number): number {
		return this.#band.makeColor(red, green, blue);
	}

	begin(x = 0, y = 0, width = this.width, height = this.height): void {
		const from = Math.max(y - this.#top, 0);
		const to = Math.min(y + height - this.#top, BAND_ROWS);
		this.#isSeen = from < to;
		if (this.#isSeen) {
			this.#band.begin(x, from, width, to - from);
			this.#band.origin(0, -this.#top);
		}
	}

	end(): void {
		if (this.#isSeen) {
			this.#band.origin();
			this.#band.end();
		}
	}

	fillRectangle(color: number, x: number, y: number, width: number, height: number): void {
		if (this.#isSeen) {
			this.#band.fillRectangle(color, x, y, width, height);
		}
	}

	blendRectangle(color: number, blend: number, x: number, y: number, width: number, height: number): void {
		if (this.#isSeen) {
			this.#band.blendRectangle(color, blend, x, y, width, height);
		}
	}

	drawText(...args: Parameters<Canvas["drawText"]>): void {
		if (this.#isSeen) {
			this.#band.drawText(...args);
		}
	}

	getTextWidth(text: string, font: Font): number {
		return this.#band.getTextWidth(text, font);
	}
}
