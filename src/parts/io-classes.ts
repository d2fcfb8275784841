/** A digital pin of ECMA-419 (§10.1). */
export interface DigitalPin {
	read(): number;
	write(value: number): void;
	close(): void;
}

/** ECMA-419's class of digital pins, as far as parts use it. */
export interface DigitalClass {
	readonly Input: number;
	readonly InputPullUp: number;
	readonly InputPullDown: number;
	readonly Output: number;
	readonly Rising: number;
	readonly Falling: number;
	new (options: object): DigitalPin;
}

/** The modules of digital, analog and PWM pins, which a build may lack. */
export const DIGITAL = "embedded:io/digital";
export const ANALOG = "embedded:io/analog";
export const PWM = "embedded:io/pwm";
