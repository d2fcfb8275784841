import { neoPixelLight, type Pixels } from "../drivers/light-neopixel.js";
import type { Light } from "../kinds/light.js";
import {
	anInteger,
	anything,
	aPin,
	oneOf,
	optional,
	optionFault,
	type Part,
	type PartOptions,
	RetriedLight,
} from "./part.js";

export interface NeoPixelOptions extends PartOptions {
	readonly pin: number;
	/** The number of LEDs: 1 to 1,024. */
	readonly length: number;
	/** The order of their colour channels. Default "GRB", as WS2812 have it. */
	readonly order?: "GRB" | "RGB";
}

/** Maximum LEDs of a strip: a chip keeps three bytes for each. */
const MAX_LENGTH = 1_024;

const NEOPIXEL = "neopixel";

/**
 * A row of WS2812 LEDs, which all show the same.
 *
 * @example
 * strip: neopixel({ pin: 8, length: 30 })
 */
export const neopixel = (options: NeoPixelOptions): Part<"light"> => {
	const { pin, title, length, order = "GRB" } = options;
	return {
		makes: "light",
		pins: [{ pin, use: "output" }],
		loads: [NEOPIXEL],
		fault: optionFault(options, {
			title: anything,
			pin: aPin,
			length: anInteger(1, MAX_LENGTH),
			order: optional(oneOf("GRB", "RGB")),
		}),
		open: (io) =>
			new RetriedStrip(
				io,
				() => {
					const NeoPixel = io.load<new (options: object) => Pixels>(NEOPIXEL);
					return neoPixelLight(new NeoPixel({ pin, length, order, part: io.name }));
				},
				title,
			),
	};
};

class RetriedStrip extends RetriedLight implements Light {
	get color(): number | undefined {
		return this.error === undefined ? this.value.color : 0;
	}

	set color(color: number) {
		this.value.color = color;
	}
}
