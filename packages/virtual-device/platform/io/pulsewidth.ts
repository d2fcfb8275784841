import { Pin, type PinOptions } from "./pins.js";

/** Microseconds until others are set: an echo from 20 cm. */
const INITIAL = 1_160;

/** Stands in for the SDK's `embedded:io/pulsewidth`: how long a pulse at a pin is, in microseconds, is set from outside. */
export default class PulseWidth extends Pin {
	static readonly RisingToFalling = 0;
	static readonly RisingToRising = 1;
	static readonly FallingToRising = 2;
	static readonly FallingToFalling = 3;
	static readonly InputPullUp = 1;
	static readonly InputPullDown = 2;

	constructor(options: PinOptions & { readonly onReadable?: () => void }) {
		super(options, "pulse", INITIAL, () => options.onReadable?.call(this));
	}

	read(): number {
		return this.outside;
	}
}
