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
		// A servo's pulse in microseconds, else percent.
		const shown = this.hz === SERVO_HZ ? (value / full) * (1_000_000 / SERVO_HZ) : (value / full) * 100;
		showPin(this.#pin, Math.round(shown * 10) / 10);
	}

	close(): void {
		closePin(this.#pin);
	}
}
