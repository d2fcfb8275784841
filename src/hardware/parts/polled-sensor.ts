import { deepFreeze } from "../../core/text/deep-freeze.js";
import { rounded, SampledSensor, type SampledSource } from "../drivers/sensor-sampled.js";
import type { Reading, Sensor } from "../kinds/sensor.js";
import { SENSOR_KINDS } from "../sensor-kinds.js";
import { aNumber, anything, type OpenedPart, optional, type PartIo, type PartOptions, Retried } from "./part.js";

/** Options of every sensor. */
export interface SensorOptions extends PartOptions {
	/** Its quantity: a kind of src/hardware/sensor-kinds.ts, a device class of Home Assistant, or another word. */
	readonly kind?: string;
	/** Unit of its values. Default: that of its kind. */
	readonly unit?: string;
	/** The change of its value that is an event. Default: that of its kind. */
	readonly threshold?: number;
	/** Poll interval for changes, in seconds: 1 to 86,400. Default 1. */
	readonly interval?: number;
}

/** Longest interval, in seconds. */
const MAX_INTERVAL = 86_400;

/** Consecutive failed samples after which a sensor is reopened. */
const MAX_FAILURES = 3;

/** Characters of a kind and of a unit. */
const MAX_WORD = 32;
const MAX_UNIT = 16;

const aText =
	(max: number) =>
	(name: string, text: unknown): string | false => {
		const isText = typeof text === "string" && text.length > 0 && text.length <= max;
		return !isText && `${name}: expected a text of 1 to ${max} characters`;
	};

/** Checks of the options of every sensor. */
export const SENSOR_CHECKS = deepFreeze({
	title: anything,
	kind: optional(aText(MAX_WORD)),
	unit: optional(aText(MAX_UNIT)),
	threshold: optional(aNumber(0, Number.MAX_VALUE)),
	interval: optional(aNumber(1, MAX_INTERVAL, "seconds")),
});

interface PolledOptions<Sample> extends SensorOptions {
	/** Opens it. @throws if it does not answer */
	readonly source: () => SampledSource<Sample>;
	/** The value in a sample; undefined without one. */
	readonly pick: (sample: Sample) => Reading | undefined;
	/** The current quantities. */
	readonly describe: () => Pick<Sensor, "kind" | "unit">;
	/** Returns the change that is an event, by kind if there are several values. Undefined: a tenth of the last report. */
	readonly step: (kind?: string) => number | undefined;
}

/** Default change that is an event: a tenth of the value last reported. */
const DEFAULT_SHARE = 0.1;

/** Opens a sensor that is polled for changes. One that keeps failing is reopened. */
export const openPolled = <Sample>(io: PartIo, options: PolledOptions<Sample>): OpenedPart<"sensor"> => {
	const { title, interval, source, pick, describe, step } = options;
	const opened = new Retried(io, source);
	let failures = 0;
	const sample = (): Sample | undefined => {
		const { value } = opened;
		try {
			const sample = value.sample();
			failures = 0;
			opened.works();
			return sample;
		} catch (error) {
			failures += 1;
			if (failures >= MAX_FAILURES) {
				failures = 0;
				opened.fail(error);
			}
			throw new Error(`${io.name}: ${error instanceof Error ? error.message : String(error)}`);
		}
	};
	return new SampledSensor<Sample, Reading>({
		describe,
		title,
		source: { sample, close: () => opened.close() },
		pick,
		differs: (value, reported) => differs(value, reported, step),
		timer: io.timer,
		...(interval !== undefined && { interval: interval * 1000 }),
	});
};

const differs = (
	value: unknown,
	reported: unknown,
	step: (kind?: string) => number | undefined,
	kind?: string,
): boolean => {
	if (typeof value === "number" && typeof reported === "number") {
		const least = step(kind) ?? Math.abs(reported) * DEFAULT_SHARE;
		return Math.abs(value - reported) >= least && value !== reported;
	}
	if (typeof value !== "object" || typeof reported !== "object" || value === null || reported === null) {
		return value !== reported;
	}
	const before = reported as Readonly<Record<string, unknown>>;
	return Object.entries(value).some(([member, each]) => differs(each, before[member], step, member));
};

/** Returns the change of a kind's value that is an event. */
export const stepOf = (kind: string): number | undefined => knownKind(kind)?.step;

/** Returns the unit of a kind. */
export const unitOf = (kind: string): string | undefined => knownKind(kind)?.unit;

/** Rounds a value as fits its kind. */
export const roundedAs = (kind: string, value: number): number => rounded(value, knownKind(kind)?.decimals);

/** Several values of one kind have longer names: "voltage_0", "outside_temperature". */
const knownKind = (name: string) => {
	const kind = name.split("_").find((word) => SENSOR_KINDS[word] !== undefined);
	return kind === undefined ? undefined : SENSOR_KINDS[kind];
};
