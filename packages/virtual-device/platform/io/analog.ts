import { Pin, type PinOptions } from "./pins.js";

/** Bits of the converter: those of most chips. */
const RESOLUTION = 12;

/** Value until one is set from outside: half of the voltage. */
const HALF = 2 ** (RESOLUTION - 1);

/** Stands in for ECMA-419's `embedded:io/analog` (§10.2): its value is set from outside. */
export default class Analog extends Pin {
	readonly resolution = RESOLUTION;

	constructor(options: PinOptions) {
		super(options, "analog", HALF);
	}

	read(): number {
		return Math.min(2 ** RESOLUTION - 1, Math.max(0, Math.round(this.outside)));
	}
}
