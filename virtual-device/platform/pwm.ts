import { closePin, openPin, type PinOptions, showPin } from "./pins.js";

interface PwmOptions extends PinOptions {
	readonly hz?: number;
	/** Bits of the duty. Default 10. */
	readonly resolution?: number;
}

/** Pulses in a second for a servo. */
const SERVO_HZ = 50;

/** Stands in for ECMA-419's `embedded:io/pwm` (§10.4): Node shows the duty in percent, or the pulse for a servo. */
export default class PWM {
	readonly hz: number;
	readonly resolution: number;
	readonly #pin: number;

	constructor(options: PwmOptions) {
		this.hz = options.hz ?? 1_024;
		this.resolution = options.resolution ?? 10;
		this.#pin = openPin(options, this.hz === SERVO_HZ ? "servo" : "pwm", 0);
	}

	get format(): string {
		return "number";
	}

	write(value: number): void {
		const full = 2 ** this.resolution - 1;
		if (!(value >= 0 && value <= full)) {
			throw new RangeError(`expected a duty from 0 to ${full}`);
		}
		// Percent, or a servo's pulse in microseconds.
		const share = value / full;
		const isServo = this.hz === SERVO_HZ;
		showPin(this.#pin, isServo ? Math.round(share * (1_000_000 / SERVO_HZ)) : Math.round(share * 1_000) / 10);
	}

	close(): void {
		closePin(this.#pin);
	}
}
