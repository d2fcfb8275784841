import { closePin, levelOf, openPin, type PinOptions } from "./pins.js";

/** Bits of the converter: those of most chips. */
const RESOLUTION = 12;

/** What it reads until Node sets something: half of the voltage. */
const HALF = 2 ** (RESOLUTION - 1);

/** Stands in for ECMA-419's `embedded:io/analog` (§10.2): what it reads is set on Node's side. */
export default class Analog {
	readonly resolution = RESOLUTION;
	readonly #pin: number;

	constructor(options: PinOptions) {
		this.#pin = openPin(options, "analog", HALF);
	}

	get format(): string {
		return "number";
	}

	read(): number {
		return Math.min(2 ** RESOLUTION - 1, Math.max(0, Math.round(levelOf(this.#pin, HALF))));
	}

	close(): void {
		closePin(this.#pin);
	}
}
