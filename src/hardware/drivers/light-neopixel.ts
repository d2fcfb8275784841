import { ColoredLight } from "./light-state.js";

/** The SDK's NeoPixel. */
export interface Pixels {
	/** 0 to 255. */
	brightness: number;
	/** @returns a color for `fill` */
	makeRGB(red: number, green: number, blue: number): number;
	/** Sets every pixel to this colour; visible after `update`. */
	fill(color: number): void;
	update(): void;
	close(): void;
}

/** LEDs of the kind WS2812 in a row, which all show the same. */
export class NeoPixelLight extends ColoredLight {
	private readonly pixels: Pixels;

	constructor(pixels: Pixels) {
		super();
		this.pixels = pixels;
		this.show();
	}

	close(): void {
		this.pixels.close();
	}

	protected show(): void {
		const pixels = this.pixels;
		const color = this.on ? this.color : 0;
		pixels.brightness = Math.round((this.brightness * 255) / 100);
		pixels.fill(pixels.makeRGB(color >> 16, (color >> 8) & 255, color & 255));
		pixels.update();
	}
}
