import { openPwmLight, type PwmClass } from "../drivers/light-pwm.js";
import {
	aFlag,
	aNumber,
	anything,
	aPin,
	optional,
	optionFault,
	type Part,
	type PartOptions,
	PWM,
	RetriedLight,
	rangeFault,
} from "./part.js";

export interface PwmOptions extends PartOptions {
	readonly pin: number;
	/** Whether it is on while the pin is low. Default false. */
	readonly activeLow?: boolean;
	/** Percent of the time that it is on at the lowest and at full brightness: 0 to 100. Default 0 and 100. */
	readonly min?: number;
	readonly max?: number;
	/** Frequency in Hz: 100 to 40,000. Default: the chip's. */
	readonly hz?: number;
}

/**
 * A light, fan or heater that is dimmed by PWM.
 *
 * @example
 * lamp: pwm({ pin: 2, max: 80 })
 */
export const pwm = (options: PwmOptions): Part<"light"> => {
	const { pin, title, min = 0, max = 100, hz, activeLow = false } = options;
	const percent = optional(aNumber(0, 100, "percent"));
	const frequency = optional(aNumber(100, 40_000));
	return {
		makes: "light",
		pins: [{ pin, use: "output" }],
		fault: optionFault(
			options,
			{ title: anything, pin: aPin, activeLow: aFlag, min: percent, max: percent, hz: frequency },
			rangeFault(min, max),
		),
		open: (io) =>
			new RetriedLight(
				io,
				() => {
					const Output = io.load<PwmClass>(PWM);
					const each = { io: Output, pin, activeLow, range: [min, max] as const, part: io.name };
					return openPwmLight({ ...each, ...(hz !== undefined && { hz }) });
				},
				title,
			),
	};
};
