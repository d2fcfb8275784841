import { Pin, type PinOptions } from "./pins.js";

interface NeoPixelOptions extends PinOptions {
	readonly length: number;
}

/** Stands in for the SDK's `neopixel`: the colour of its first LED is shown. */
export default class NeoPixel extends Pin {
	/** 0 to 255. */
	brightness = 64;
	readonly length: number;
	readonly #pixels: number[];

	constructor(options: NeoPixelOptions) {
		super(options, "pixels", 0);
		this.length = options.length;
		this.#pixels = new Array(options.length).fill(0);
	}

	makeRGB(red: number, green: number, blue: number): number {
		return (red << 16) | (green << 8) | blue;
	}

	setPixel(at: number, color: number): void {
		this.#pixels[at] = color;
	}

	getPixel(at: number): number {
		return this.#pixels[at] ?? 0;
	}

	fill(color: number): void {
		this.#pixels.fill(color);
	}

	update(): void {
		const [color = 0] = this.#pixels;
		this.show({ color, brightness: Math.round((this.brightness * 100) / 255) });
	}
}
