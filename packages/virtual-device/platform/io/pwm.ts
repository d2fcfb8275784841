import { Pin, type PinOptions } from "./pins.js";

/** Frequency of a servo's pulses. */
const SERVO_HZ = 50;

/** Stands in for ECMA-419's `embedded:io/pwm` (§10.4): the duty is shown in percent, or the pulse for a servo. */
export default class PWM extends Pin {
	readonly hz: number;
	/** Bits of the duty. */
	readonly resolution: number;

	constructor(options: PinOptions & { readonly hz?: number; readonly resolution?: number }) {
		const { hz = 1_024, resolution = 10 } = options;
		super(options, hz === SERVO_HZ ? "servo" : "pwm", 0);
		this.hz = hz;
		this.resolution = resolution;
	}

	write(value: number): void {
		const full = 2 ** this.resolution - 1;
		if (!(value >= 0 && value <= full)) {
			throw new RangeError(`expected a duty from 0 to ${full}`);
		}
		// Percent, or a servo's pulse in microseconds.
		const share = value / full;
		const isServo = this.hz === SERVO_HZ;
		this.show(isServo ? Math.round(share * (1_000_000 / SERVO_HZ)) : Math.round(share * 1_000) / 10);
	}
}
