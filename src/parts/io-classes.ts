import type { DigitalInput, DigitalClass as InputClass } from "../drivers/button/button-digital.js";

/** A digital pin of ECMA-419 (§10.1). */
export interface DigitalPin extends DigitalInput {
	write(value: number): void;
}

/** ECMA-419's class of digital pins, as far as parts use it. */
export interface DigitalClass extends InputClass {
	readonly InputPullDown: number;
	readonly Output: number;
	new (options: object): DigitalPin;
}

/** The modules of digital, analog and PWM pins, which a build may lack. */
export const DIGITAL = "embedded:io/digital";
export const ANALOG = "embedded:io/analog";
export const PWM = "embedded:io/pwm";
