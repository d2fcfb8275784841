import NeoPixel from "neopixel";
import { NeoPixelLight } from "./light-neopixel.js";

interface NeoPixelOptions {
	readonly pin: number;
	/** The number of LEDs. */
	readonly length: number;
	/** The order of their colour channels. */
	readonly order: "GRB" | "RGB";
}

/** LEDs of the kind WS2812 on a pin of the chip. */
export function openNeoPixel(options: NeoPixelOptions): NeoPixelLight {
	return new NeoPixelLight(new NeoPixel({ ...options }));
}
