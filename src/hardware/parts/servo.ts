import type { PwmOutput } from "../drivers/light-pwm.js";
import { checkAngle } from "../kinds/servo.js";
import {
	aNumber,
	anything,
	aPin,
	type OpenedPart,
	optional,
	optionFault,
	type Part,
	type PartOptions,
	PWM,
	Retried,
	rangeFault,
} from "./part.js";

export interface ServoOptions extends PartOptions {
	readonly pin: number;
	/** The range of angles that calls may use, in degrees: 0 to 360. Default 0 and 180. */
	readonly min?: number;
	readonly max?: number;
	/** Microseconds of the pulse at `min` and at `max`: 400 to 2,600. Default 500 and 2,500, as for an SG90. */
	readonly pulse?: readonly [atMin: number, atMax: number];
}

/** Pulses in a second, and so the time between two, in microseconds. */
const HZ = 50;
const PERIOD = 1_000_000 / HZ;

/** Bits of the duty: a step is 1.2 microseconds, a ninth of a degree. */
const RESOLUTION = 14;

const DEFAULT_PULSE: readonly [number, number] = Object.freeze([500, 2_500]);

/**
 * A servo, which turns its arm to an angle. It moves only when it is called.
 *
 * @example
 * arm: servo({ pin: 13, max: 120 })
 */
export const servo = (options: ServoOptions): Part<"servo"> => {
	const { pin, title, min = 0, max = 180, pulse = DEFAULT_PULSE } = options;
	const degrees = optional(aNumber(0, 360, "degrees"));
	const time = aNumber(400, 2_600, "microseconds");
	return {
		makes: "servo",
		pins: [{ pin, use: "output" }],
		fault: optionFault(
			options,
			{ title: anything, pin: aPin, min: degrees, max: degrees, pulse: anything },
			rangeFault(min, max),
			time("pulse[0]", pulse?.[0]),
			time("pulse[1]", pulse?.[1]),
			pulse[0] === pulse[1] && `pulse: expected two different numbers, got ${pulse[0]} twice`,
		),
		open: (io) => {
			const output = new Retried(io, () => {
				const Output = io.load<new (options: object) => PwmOutput>(PWM);
				return new Output({ pin, hz: HZ, resolution: RESOLUTION, part: io.name });
			});
			let angle: number | undefined;
			const part: OpenedPart<"servo"> = {
				title,
				min,
				max,
				get angle() {
					return angle;
				},
				get error() {
					return output.error;
				},
				move(to) {
					checkAngle(io.name, part, to);
					const micros = pulse[0] + ((to - min) / (max - min)) * (pulse[1] - pulse[0]);
					const { value } = output;
					value.write(Math.round((micros / PERIOD) * (2 ** value.resolution - 1)));
					angle = to;
				},
				close: () => output.close(),
			};
			return part;
		},
	};
};
