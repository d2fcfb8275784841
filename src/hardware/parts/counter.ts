import { rounded } from "../drivers/sensor-sampled.js";
import { aNumber, aPin, optional, optionFault, type Part } from "./part.js";
import { openPolled, SENSOR_CHECKS, type SensorOptions, unitOf } from "./polled-sensor.js";

export interface CounterOptions extends SensorOptions {
	/** Its rising edges are counted. */
	readonly pin: number;
	/** A second pin, for an encoder: it decides whether the first one counts up or down. */
	readonly control?: number;
	/** Value of one pulse: 0.001 if a meter gives 1,000 pulses per kWh. Default 1. */
	readonly each?: number;
}

/** A pulse counter of ECMA-419 (§10.6). */
interface PulseCount {
	read(): number;
	close(): void;
}

/** Decimals that an unusually small pulse has. */
const DECIMALS = 6;

const PULSE_COUNT = "embedded:io/pulsecount";

/**
 * Counts pulses since the start: a water, gas or electricity meter, a rain gauge, an encoder. The ESP32-C3 has no counter.
 *
 * @example
 * water: counter({ pin: 27, kind: "water", unit: "L", each: 0.5 })
 */
export const counter = (options: CounterOptions): Part<"sensor"> => {
	const { pin, control, each = 1, kind = "count", threshold } = options;
	return {
		makes: "sensor",
		pins: [pin, ...(control === undefined ? [] : [control])].map((pin) => ({ pin, use: "input" })),
		loads: [PULSE_COUNT],
		fault: optionFault(options, {
			...SENSOR_CHECKS,
			pin: aPin,
			control: optional(aPin),
			each: optional(aNumber(Number.MIN_VALUE, Number.MAX_VALUE)),
		}),
		open: (io) =>
			openPolled(io, {
				...options,
				source: () => {
					const Counter = io.load<new (options: object) => PulseCount>(PULSE_COUNT);
					const opened = new Counter({ signal: pin, part: io.name, ...(control !== undefined && { control }) });
					return { sample: () => opened.read(), close: () => opened.close() };
				},
				describe: () => ({ kind, unit: options.unit ?? unitOf(kind) }),
				pick: (count) => rounded(count * each, DECIMALS),
				step: () => threshold ?? each,
			}),
	};
};
