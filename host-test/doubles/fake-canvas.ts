import type { Canvas, Font } from "../../src/screen/brush.js";
import { FaceScreen } from "../../src/screen/face-screen.js";
import { FakeTimer } from "./fake-timer.js";

interface Area {
	readonly x: number;
	readonly y: number;
	readonly width: number;
	readonly height: number;
}

interface FilledRectangle extends Area {
	readonly color: string;
}

interface DrawnText {
	readonly text: string;
	readonly color: string;
	readonly x: number;
	readonly y: number;
	readonly width: number;
}

const RECTANGLE_BYTES = 16;
const GLYPH_BYTES = 32;

/** A canvas that records drawing: rectangles as colour and place, texts as they are. Ten pixels a character. */
export class FakeCanvas implements Canvas {
	readonly width: number;
	readonly height: number;
	areas: Area[] = [];
	rectangles: FilledRectangle[] = [];
	/** Largest size of Poco's command list in a frame, in bytes. */
	mostBytes = 0;
	measured = 0;
	#texts: (DrawnText & Area)[] = [];
	readonly #colors: string[] = [];
	#bytes = 0;
	#area: Area = { x: 0, y: 0, width: 0, height: 0 };
	#isOpen = false;

	constructor(width = 320, height = 240) {
		this.width = width;
		this.height = height;
	}

	get texts(): readonly DrawnText[] {
		return [...this.#texts].sort((one, other) => one.y - other.y);
	}

	get pixels(): number {
		return this.areas.reduce((sum, { width, height }) => sum + width * height, 0);
	}

	forget(): void {
		this.areas = [];
		this.rectangles = [];
	}

	makeColor(red: number, green: number, blue: number): number {
		return this.#colors.push(`${red},${green},${blue}`) - 1;
	}

	begin(x = 0, y = 0, width = this.width, height = this.height): void {
		this.#isOpen = true;
		this.#bytes = 0;
		this.#check(x, y, width, height);
		const area = { x, y, width, height };
		this.#area = area;
		this.areas.push(area);
		this.#texts = this.#texts.filter((text) => !overlap(text, area));
	}

	end(): void {
		this.#isOpen = false;
	}

	fillRectangle(color: number, x: number, y: number, width: number, height: number): void {
		this.#check(x, y, width, height);
		this.#count(RECTANGLE_BYTES, { x, y, width, height });
		this.rectangles.push({ color: this.#colors[color] ?? "", x, y, width, height });
	}

	blendRectangle(_color: number, blend: number, x: number, y: number, width: number, height: number): void {
		this.#check(blend, x, y, width, height);
		this.#count(RECTANGLE_BYTES, { x, y, width, height });
	}

	drawText(text: string, font: Font, color: number, x: number, y: number, width = this.width): void {
		this.#check(x, y, width, font.height);
		this.#count(text.length * GLYPH_BYTES, { x, y, width, height: font.height });
		const drawn = { text, color: this.#colors[color] ?? "", x, y, width, height: font.height };
		this.#texts = [...this.#texts.filter((other) => other.x !== x || other.y !== y), drawn];
	}

	getTextWidth(text: string, _font?: Font): number {
		this.measured += text.length;
		return 10 * text.length;
	}

	/** Poco keeps no command for pixels outside the area. */
	#count(bytes: number, area: Area): void {
		this.#bytes += overlap(area, this.#area) ? bytes : 0;
		this.mostBytes = Math.max(this.mostBytes, this.#bytes);
	}

	/** Poco's natives take whole pixels, and draw only within a frame. */
	#check(...numbers: number[]): void {
		if (!this.#isOpen || !numbers.every(Number.isInteger)) {
			throw new Error(`not to be drawn: ${numbers.join(", ")}`);
		}
	}
}

function overlap(one: Area, other: Area): boolean {
	return (
		one.x < other.x + other.width &&
		other.x < one.x + one.width &&
		one.y < other.y + other.height &&
		other.y < one.y + one.height
	);
}

/** A face on a canvas, its time, and how to have it drawn at once: no face blinks that early. */
export function makeFace<OfTest extends FakeCanvas = FakeCanvas>(
	options: Partial<ConstructorParameters<typeof FaceScreen>[0]> = {},
	canvas = new FakeCanvas() as OfTest,
) {
	const timer = new FakeTimer();
	const screen = new FaceScreen({ canvas, font: { height: 20 }, timer, ...options });
	const draw = (): OfTest => {
		canvas.forget();
		timer.pass(40);
		return canvas;
	};
	return { canvas, timer, screen, draw };
}
