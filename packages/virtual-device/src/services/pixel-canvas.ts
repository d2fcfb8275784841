import type { Canvas, Font, Rectangle } from "../../../../src/screen/brush.js";
import type { ReadFont } from "../../../xs-mcp/src/build/bm-font.js";

/** Bytes of a pixel: red, green, blue, and nothing transparent. */
const PIXEL_BYTES = 4;

interface Clip {
	readonly left: number;
	readonly top: number;
	readonly right: number;
	readonly bottom: number;
}

/** The firmware's canvas, instead of the SDK's Poco: fonts are {@link ReadFont}s. */
export class PixelCanvas implements Canvas {
	readonly width: number;
	readonly height: number;
	/** RGBA, row by row. */
	readonly pixels: Buffer;
	readonly #onDrawn: ((part: Rectangle) => void) | undefined;
	#clip: Clip;

	/** @param onDrawn called with each part that was drawn */
	constructor(width: number, height: number, onDrawn?: (part: Rectangle) => void) {
		this.#onDrawn = onDrawn;
		this.width = width;
		this.height = height;
		this.pixels = Buffer.alloc(width * height * PIXEL_BYTES, 0xff);
		this.#clip = this.#whole();
	}

	makeColor(red: number, green: number, blue: number): number {
		return ((red << 24) | (green << 16) | (blue << 8) | 0xff) >>> 0;
	}

	/** Nothing is drawn outside of this part. */
	begin(x = 0, y = 0, width = this.width, height = this.height): void {
		const [right, bottom] = [Math.min(this.width, x + width), Math.min(this.height, y + height)];
		this.#clip = { left: Math.max(0, x), top: Math.max(0, y), right, bottom };
	}

	end(): void {
		const { left, top, right, bottom } = this.#clip;
		this.#onDrawn?.({ x: left, y: top, width: right - left, height: bottom - top });
		this.#clip = this.#whole();
	}

	fillRectangle(color: number, x: number, y: number, width: number, height: number): void {
		this.#each(x, y, width, height, (at) => {
			this.pixels.writeUInt32BE(color, at);
		});
	}

	blendRectangle(color: number, blend: number, x: number, y: number, width: number, height: number): void {
		this.#each(x, y, width, height, (at) => {
			for (let byte = 0; byte < PIXEL_BYTES - 1; byte += 1) {
				const over = (color >>> (8 * (PIXEL_BYTES - 1 - byte))) & 0xff;
				const under = this.pixels[at + byte] ?? 0;
				this.pixels[at + byte] = Math.round(under + ((over - under) * blend) / 255);
			}
		});
	}

	#whole(): Clip {
		return { left: 0, top: 0, right: this.width, bottom: this.height };
	}

	#each(x: number, y: number, width: number, height: number, draw: (at: number) => void): void {
		const { left, top, right, bottom } = this.#clip;
		for (let row = Math.max(top, y); row < Math.min(bottom, y + height); row += 1) {
			for (let column = Math.max(left, x); column < Math.min(right, x + width); column += 1) {
				draw((row * this.width + column) * PIXEL_BYTES);
			}
		}
	}

	/** Draws like Poco: a text that is wider than it may be ends with an ellipsis, and a character without a glyph is skipped. */
	drawText(text: string, font: Font, color: number, x: number, y: number, width = Number.POSITIVE_INFINITY): void {
		let pen = x;
		for (const character of shorten(text, width, (each) => this.getTextWidth(each, font))) {
			const glyph = (font as ReadFont).glyphs.get(character);
			for (const [row, columns] of (glyph?.rows ?? []).entries()) {
				for (const [column, isSet] of columns.entries()) {
					if (isSet) {
						this.fillRectangle(color, pen + (glyph?.left ?? 0) + column, y + (glyph?.top ?? 0) + row, 1, 1);
					}
				}
			}
			pen += glyph?.advance ?? 0;
		}
	}

	getTextWidth(text: string, font: Font): number {
		let width = 0;
		for (const character of text) {
			width += (font as ReadFont).glyphs.get(character)?.advance ?? 0;
		}
		return width;
	}
}

function shorten(text: string, width: number, measure: (text: string) => number): string {
	if (measure(text) <= width) {
		return text;
	}
	const characters = [...text];
	while (characters.length > 0 && measure(`${characters.join("")}…`) > width) {
		characters.pop();
	}
	return `${characters.join("")}…`;
}
