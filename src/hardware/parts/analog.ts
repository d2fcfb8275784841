import type { SampledSource } from "../drivers/sensor-sampled.js";
import { ANALOG, aPin, optional, optionFault, type Part } from "./part.js";
import { openPolled, roundedAs, SENSOR_CHECKS, type SensorOptions, stepOf, unitOf } from "./polled-sensor.js";

/** From one number to another; the second one may be the lower one. */
type Range = readonly [from: number, to: number];

export interface AnalogOptions extends SensorOptions {
	/** A pin of the chip's analog-to-digital converter. */
	readonly pin: number;
	/** Two numbers that the converter reads: 0 to 4,095 on most chips. Default: its whole range. */
	readonly from?: Range;
	/** The values of these two readings. Readings beyond them are clamped. Default 0 and 100. */
	readonly to?: Range;
}

/** An analog pin of ECMA-419 (§10.2). */
interface AnalogPin {
	/** Bits of a reading. */
	readonly resolution: number;
	read(): number | undefined;
	close(): void;
}

type AnalogClass = new (options: { readonly pin: number; readonly part: string }) => AnalogPin;

/** Number of readings that are averaged, because the converters of these chips are noisy. */
const READS = 8;

/** Default change that is an event, as a share of the span of the values. */
const DEFAULT_STEP = 1 / 50;

/**
 * A sensor whose voltage is measured: soil moisture, a potentiometer, a thermistor's divider.
 *
 * @example
 * soil: analog({ pin: 34, kind: "moisture", unit: "%", from: [2900, 1200], to: [0, 100] })
 */
export const analog = (options: AnalogOptions): Part<"sensor"> => {
	const { pin, kind = "analog", from, to = [0, 100], threshold } = options;
	return {
		makes: "sensor",
		pins: [{ pin, use: "analog" }],
		fault: optionFault(options, { ...SENSOR_CHECKS, pin: aPin, from: optional(aRange), to: optional(aRange) }),
		open: (io) => {
			let full: Range = [0, 0];
			return openPolled(io, {
				...options,
				source: () => {
					const opened = new (io.load<AnalogClass>(ANALOG))({ pin, part: io.name });
					full = [0, 2 ** opened.resolution - 1];
					return meanOf(opened);
				},
				describe: () => ({ kind, unit: options.unit ?? unitOf(kind) ?? "%" }),
				pick: (raw) => {
					const [low, high] = from ?? full;
					const share = Math.min(1, Math.max(0, (raw - low) / (high - low)));
					return roundedAs(kind, to[0] + share * (to[1] - to[0]));
				},
				step: () => threshold ?? stepOf(kind) ?? Math.abs(to[1] - to[0]) * DEFAULT_STEP,
			});
		},
	};
};

const meanOf = (pin: AnalogPin): SampledSource<number> => ({
	sample() {
		let sum = 0;
		for (let read = 0; read < READS; read += 1) {
			const value = pin.read();
			if (value === undefined) {
				throw new Error("the converter does not answer");
			}
			sum += value;
		}
		return sum / READS;
	},
	close: () => pin.close(),
});

const aRange = (name: string, range: unknown): string | false => {
	const [first, last, ...more] = Array.isArray(range) ? range : [];
	if (!Number.isFinite(first) || !Number.isFinite(last) || more.length > 0) {
		return `${name}: expected two numbers: [2900, 1200]`;
	}
	return first === last && `${name}: expected two different numbers, got ${first} twice`;
};
