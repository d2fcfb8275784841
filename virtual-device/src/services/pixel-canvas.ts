import type { ReadFont } from "../../../scripts/fonts/read-bm-font.js";
import type { Canvas, Font } from "../../../src/pictures/face-drawing.js";

/** Bytes of a pixel: red, green, blue, and nothing transparent. */
const PIXEL_BYTES = 4;

/** What the firmware draws on, in place of the SDK's Poco: fonts are {@link ReadFont}s. */
export class PixelCanvas implements Canvas {
	readonly width: number;
	readonly height: number;
	/** RGBA, row by row. */
	readonly pixels: Buffer;

	constructor(width: number, height: number) {
		this.width = width;
		this.height = height;
		this.pixels = Buffer.alloc(width * height * PIXEL_BYTES, 0xff);
	}

	makeColor(red: number, green: number, blue: number): number {
		return ((red << 24) | (green << 16) | (blue << 8) | 0xff) >>> 0;
	}

	begin(): void {}

	end(): void {}

	fillRectangle(color: number, x: number, y: number, width: number, height: number): void {
		for (let row = Math.max(0, y); row < Math.min(this.height, y + height); row += 1) {
			for (let column = Math.max(0, x); column < Math.min(this.width, x + width); column += 1) {
				this.pixels.writeUInt32BE(color, (row * this.width + column) * PIXEL_BYTES);
			}
		}
	}

	/** As Poco does: a text that is wider than it may be ends with an ellipsis, and a character without a glyph is skipped. */
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
