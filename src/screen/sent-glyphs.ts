import { fromBase64 } from "../core/text/base64.js";
import { isObject } from "../core/text/json.js";
import type { TextFont } from "../hardware/hardware.js";
import type { Tools } from "./status-drawing.js";

/** Glyphs that are kept at most: a new one takes the place of the oldest. */
const MAX_SENT_GLYPHS = 128;

/** The bundle of the family's `glyph_push`: UnifontEX, at 16 pixels. */
const BUNDLE = "unifontex-v1";

/** Rows of a glyph, and pixels of a line above them. */
const ROWS = 16;
const LEADING = 1;

/** Numbers of a glyph: its rows, the leftmost pixel in bit 15, and its width. */
const STRIDE = ROWS + 1;

/** Glyphs that the font lacks (`glyph_push`, version 1): 16 pixels high, 8 or 16 wide, of the first plane. */
export class SentGlyphs {
	/** A glyph's number is the place of its character. */
	private characters = "";
	private numbers: Uint16Array | undefined;
	/** The number that the next glyph gets, once there is no room. */
	private next = 0;

	/** The font that they are of. @param charset the characters that it has built in */
	static fontOf(charset: string): TextFont {
		return { bundle: BUNDLE, charset, size: ROWS, bpp: 1 };
	}

	get isEmpty(): boolean {
		return this.characters === "";
	}

	/**
	 * Keeps the glyphs of a message. A push for another font, and glyphs of another form, are ignored.
	 *
	 * @param push the member `glyph_push` of a message
	 * @returns whether there are new ones
	 */
	take(push: unknown): boolean {
		if (!isObject(push) || push.v !== 1 || push.bundle !== BUNDLE || !Array.isArray(push.glyphs)) {
			return false;
		}
		const before = this.characters;
		this.numbers ??= new Uint16Array(MAX_SENT_GLYPHS * STRIDE);
		for (const glyph of push.glyphs.slice(0, MAX_SENT_GLYPHS)) {
			if (isObject(glyph)) {
				this.takeOne(glyph, this.numbers);
			}
		}
		return this.characters !== before;
	}

	/** The pixels that a character moves the pen; 0 if its glyph was not sent. */
	widthOf(character: string): number {
		const at = this.characters.indexOf(character);
		return at < 0 ? 0 : (this.numbers?.[at * STRIDE + ROWS] ?? 0);
	}

	/** Draws a line of text: sent glyphs, and between them what the font has. */
	drawText(tools: Tools, text: string, color: number, x: number, y: number): void {
		const { canvas, font } = tools;
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
			this.draw(tools, this.characters.indexOf(character) * STRIDE, color, pen, y + LEADING);
			pen += width;
		}
		if (run !== "") {
			canvas.drawText(run, font, color, pen, y);
		}
	}

	private takeOne({ codepoint, box_w: width, bitmap }: Readonly<Record<string, unknown>>, numbers: Uint16Array): void {
		const isInPlane = typeof codepoint === "number" && codepoint > 0x20 && codepoint <= 0xffff;
		if (!isInPlane || (width !== 8 && width !== 16) || typeof bitmap !== "string") {
			return;
		}
		const character = String.fromCharCode(codepoint);
		if (this.characters.includes(character)) {
			return;
		}
		const isFull = this.characters.length === MAX_SENT_GLYPHS;
		const at = isFull ? this.next : this.characters.length;
		if (readRows(bitmap, width, numbers, at * STRIDE)) {
			const kept = this.characters;
			this.characters = isFull ? kept.slice(0, at) + character + kept.slice(at + 1) : kept + character;
			this.next = (at + 1) % MAX_SENT_GLYPHS;
		}
	}

	/** Each run of pixels in a row is a rectangle: screens that are rotated need no other bitmaps. */
	private draw({ canvas, brush }: Tools, at: number, color: number, x: number, y: number): void {
		const numbers = this.numbers as Uint16Array;
		for (let row = 0; row < ROWS; row += 1) {
			let bits = brush.reaches(x, y + row, ROWS, 1) ? (numbers[at + row] as number) : 0;
			for (let column = x; bits !== 0; ) {
				let width = 0;
				while ((bits & 0x8000) !== 0) {
					bits = (bits << 1) & 0xffff;
					width += 1;
				}
				if (width > 0) {
					canvas.fillRectangle(color, column, y + row, width, 1);
				} else {
					bits <<= 1;
					width = 1;
				}
				column += width;
			}
		}
	}
}

/** Writes the rows of a bitmap in base64. @returns false, and writes nothing, if it has another length */
const readRows = (bitmap: string, width: number, numbers: Uint16Array, at: number): boolean => {
	const bytes = fromBase64(bitmap);
	if (bytes?.length !== (ROWS * width) / 8) {
		return false;
	}
	for (let row = 0; row < ROWS; row += 1) {
		const [first = 0, second = 0] = width === 8 ? [bytes[row]] : [bytes[2 * row], bytes[2 * row + 1]];
		numbers[at + row] = (first << 8) | second;
	}
	numbers[at + ROWS] = width;
	return true;
};
