import { fromBase64 } from "../core/text/base64.js";
import { isObject } from "../core/text/json.js";
import type { TextFont } from "../hardware/hardware.js";
import type { Brush, Canvas, Font } from "./brush.js";

/** Maximum number of glyphs: a new one replaces the oldest. */
const MAX_SENT_GLYPHS = 128;

/** Maximum number of glyphs in a message, as in the family. */
const MAX_PUSHED_GLYPHS = 64;

/** Fonts of glyphs that fit: the family's at 14 pixels, and UnifontEX, which this project's gateway sends. */
const BUNDLES: readonly unknown[] = Object.freeze(["noto-v1", "unifontex-v1"]);

/** Rows and columns of a glyph, the rows above its baseline, and pixels of a line above its first row. */
const SIZE = 16;
const ASCENT = 14;
const LEADING = 1;

/** Minimum advance width of a glyph, in pixels. */
const MIN_WIDTH = 2;

/** Numbers of a glyph: its rows, the leftmost pixel in bit 15, and its width. */
const STRIDE = SIZE + 1;

/** A glyph in a message, once the types of its members are checked: metrics of LVGL, in pixels except `adv_w`. */
interface Glyph {
	readonly codepoint: number;
	readonly adv_w: number;
	readonly box_w: number;
	readonly box_h: number;
	readonly ofs_x: number;
	readonly ofs_y: number;
	readonly bitmap: unknown;
}

/** Glyphs that the font lacks: the family's `glyph_push`, version 1. One bit per pixel suits any screen and heap. */
export class SentGlyphs {
	private readonly canvas: Canvas;
	private readonly font: Font;
	/** Characters by the numbers of their glyphs. */
	private readonly characters: string[] = [];
	private numbers: Uint16Array | undefined;
	/** Number of the next glyph. */
	private next = 0;

	constructor(canvas: Canvas, font: Font) {
		this.canvas = canvas;
		this.font = font;
	}

	/** Returns the font that servers of the family send. @param set the build's glyph set, for this project's gateway */
	static fontOf(set: string): TextFont {
		return { bundle: "noto-v1", charset: "basic", size: 14, bpp: 1, set };
	}

	get isEmpty(): boolean {
		return this.numbers === undefined;
	}

	/**
	 * Keeps the glyphs of a message, except those that are too large or in the font. Ignores pushes for other fonts.
	 *
	 * @param push the member `glyph_push` of a message
	 * @returns whether there are new ones
	 */
	take(push: unknown): boolean {
		if (!isObject(push) || push.v !== 1 || push.bpp !== 1 || !BUNDLES.includes(push.bundle)) {
			return false;
		}
		const { glyphs } = push;
		const before = this.next;
		if (Array.isArray(glyphs) && glyphs.length <= MAX_PUSHED_GLYPHS) {
			for (const glyph of glyphs as readonly Glyph[]) {
				if (isObject(glyph)) {
					this.takeOne(glyph);
				}
			}
		}
		return this.next !== before;
	}

	/** Returns the advance width of a character in pixels; 0 if neither the font nor a sent glyph has it. */
	measure(character: string): number {
		return this.canvas.getTextWidth(character, this.font) || this.widthOf(character);
	}

	/** Draws a line of text with the font and the sent glyphs. */
	drawText(brush: Brush, text: string, color: number, x: number, y: number): void {
		const { canvas, font } = this;
		let pen = x;
		let run = "";
		for (const character of text) {
			const width = this.widthOf(character);
			if (width === 0) {
				run += character;
				continue;
			}
			if (run !== "") {
				canvas.drawText(run, font, color, pen, y);
				pen += canvas.getTextWidth(run, font);
				run = "";
			}
			this.draw(brush, this.characters.indexOf(character) * STRIDE, color, pen, y + LEADING);
			pen += width;
		}
		if (run !== "") {
			canvas.drawText(run, font, color, pen, y);
		}
	}

	/** The width of a sent glyph; 0 without one. */
	private widthOf(character: string): number {
		const at = this.characters.indexOf(character);
		return at < 0 ? 0 : (this.numbers?.[at * STRIDE + SIZE] ?? 0);
	}

	private takeOne(glyph: Glyph): void {
		const { codepoint, adv_w: advance, box_w: width, box_h: height, ofs_x: left, ofs_y: bottom, bitmap } = glyph;
		if (![codepoint, advance, width, height, left, bottom].every(Number.isInteger)) {
			return;
		}
		const column = left < 0 ? 0 : left;
		// LVGL has 16ths of a pixel. Glyphs do not overlap, which limits the canvas's display list.
		const pixels = Math.max((advance + 8) >> 4, column + width);
		const top = ASCENT - height - bottom;
		const isInLine = top >= 0 && height >= 0 && top + height <= SIZE && width >= 0 && column + width <= SIZE;
		if (!isInLine || pixels < MIN_WIDTH || pixels > SIZE || codepoint <= 0x20 || codepoint > 0x10_ffff) {
			return;
		}
		const character = String.fromCodePoint(codepoint);
		const bytes = typeof bitmap === "string" && this.measure(character) === 0 ? fromBase64(bitmap) : undefined;
		if (bytes?.length !== (width * height + 7) >> 3) {
			return;
		}
		this.numbers ??= new Uint16Array(MAX_SENT_GLYPHS * STRIDE);
		const at = this.next * STRIDE;
		this.numbers.fill(0, at, at + SIZE);
		this.numbers[at + SIZE] = pixels;
		for (let bit = 0; bit < width * height; bit += 1) {
			if (((bytes[bit >> 3] as number) & (0x80 >> (bit & 7))) !== 0) {
				const row = at + top + Math.floor(bit / width);
				this.numbers[row] = (this.numbers[row] as number) | (0x8000 >> (column + (bit % width)));
			}
		}
		this.characters[this.next] = character;
		this.next = (this.next + 1) % MAX_SENT_GLYPHS;
	}

	/** Draws each run of pixels in a row as a rectangle, so that rotated screens need no other bitmaps. */
	private draw(brush: Brush, at: number, color: number, x: number, y: number): void {
		const numbers = this.numbers as Uint16Array;
		for (let row = 0; row < SIZE; row += 1) {
			let bits = brush.reaches(x, y + row, SIZE, 1) ? (numbers[at + row] as number) : 0;
			for (let column = x; bits !== 0; ) {
				let width = 0;
				while ((bits & 0x8000) !== 0) {
					bits = (bits << 1) & 0xffff;
					width += 1;
				}
				if (width > 0) {
					this.canvas.fillRectangle(color, column, y + row, width, 1);
				} else {
					bits <<= 1;
					width = 1;
				}
				column += width;
			}
		}
	}
}
