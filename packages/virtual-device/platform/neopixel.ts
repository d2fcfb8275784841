import { Pin, type PinOptions } from "./io/pins.js";

/** Maximum number of LEDs that are shown. */
const MAX_SHOWN = 64;

/** Stands in for the SDK's `neopixel`: the colours of its LEDs are shown. */
export default class NeoPixel extends Pin {
	/** 0 to 255. */
	brightness = 64;
	readonly length: number;
	readonly #pixels: number[];

	constructor(options: PinOptions & { readonly length: number }) {
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
		const { length } = this;
		const brightness = Math.round((this.brightness * 100) / 255);
		this.show({ colors: this.#pixels.slice(0, MAX_SHOWN), length, brightness });
	}
}
