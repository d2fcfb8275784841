import { closePin, levelOf, openPin, type PinOptions } from "./pins.js";

interface PulseWidthOptions extends PinOptions {
	readonly onReadable?: () => void;
}

/** Microseconds until Node sets others: an echo from 20 cm. */
const INITIAL = 1_160;

/** Stands in for the SDK's `embedded:io/pulsewidth`: how long a pulse at a pin is, in microseconds, is set on Node's side. */
export default class PulseWidth {
	static readonly RisingToFalling = 0;
	static readonly RisingToRising = 1;
	static readonly FallingToRising = 2;
	static readonly FallingToFalling = 3;
	static readonly InputPullUp = 1;
	static readonly InputPullDown = 2;
	readonly #pin: number;

	constructor(options: PulseWidthOptions) {
		this.#pin = openPin(options, "pulse", INITIAL, () => options.onReadable?.call(this));
	}

	get format(): string {
		return "number";
	}

	read(): number {
		return levelOf(this.#pin, INITIAL);
	}

	close(): void {
		closePin(this.#pin);
	}
}
