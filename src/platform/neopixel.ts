import NeoPixel from "neopixel";
import { NeoPixelLight } from "../drivers/light-neopixel.js";

interface NeoPixelOptions {
	readonly pin: number;
	/** How many LEDs there are in the row. */
	readonly length: number;
	/** In which order they take their colours. */
	readonly order: "GRB" | "RGB";
}

/** LEDs of the kind WS2812 on a pin of the chip. */
export function openNeoPixel(options: NeoPixelOptions): NeoPixelLight {
	return new NeoPixelLight(new NeoPixel({ ...options }));
}
