import NeoPixel from "neopixel";
import { NeoPixelLight } from "./light-neopixel.js";

/** Opens LEDs of the kind WS2812 in a row. */
const openNeoPixel = (pin: number, length = 1, order = "GRB"): NeoPixelLight =>
	new NeoPixelLight(new NeoPixel({ pin, length, order }));

export default openNeoPixel;
