import type { Canvas, Font } from "../../src/pictures/face-drawing.js";

/** A canvas that remembers what was drawn: rectangles as colour and place, texts as they are. Ten pixels a character. */
export class FakeCanvas implements Canvas {
	readonly width: number;
	readonly height: number;
	/** Drawings so far. */
	drawings = 0;
	/** Of the last drawing. */
	rectangles: { color: string; x: number; y: number; width: number; height: number }[] = [];
	texts: { text: string; color: string; x: number; y: number; width: number }[] = [];
	/** Characters that were measured. */
	measured = 0;
	readonly #colors: string[] = [];
	#isOpen = false;

	constructor(width = 320, height = 240) {
		this.width = width;
		this.height = height;
	}

	makeColor(red: number, green: number, blue: number): number {
		return this.#colors.push(`${red},${green},${blue}`) - 1;
	}

	begin(): void {
		this.rectangles = [];
		this.texts = [];
		this.#isOpen = true;
	}

	end(): void {
		this.#isOpen = false;
		this.drawings += 1;
	}

	fillRectangle(color: number, x: number, y: number, width: number, height: number): void {
		this.#check(x, y, width, height);
		this.rectangles.push({ color: this.#colors[color] ?? "", x, y, width, height });
	}

	drawText(text: string, font: Font, color: number, x: number, y: number, width = this.width): void {
		this.#check(x, y, width, font.height);
		this.texts.push({ text, color: this.#colors[color] ?? "", x, y, width });
	}

	getTextWidth(text: string): number {
		this.measured += text.length;
		return 10 * text.length;
	}

	/** Poco's natives take whole pixels, and draw only between `begin` and `end`. */
	#check(...numbers: number[]): void {
		if (!this.#isOpen || !numbers.every(Number.isInteger)) {
			throw new Error(`not to be drawn: ${numbers.join(", ")}`);
		}
	}
}
