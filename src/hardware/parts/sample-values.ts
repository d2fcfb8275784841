import { isObject } from "../../core/text/json.js";
import { rounded } from "../drivers/sensor-sampled.js";
import type { Reading } from "../kinds/sensor.js";
import { roundedAs } from "./polled-sensor.js";

/** The values in a sample. */
export interface Values {
	/** Kinds of the values; one for a single value or for three axes. */
	readonly kinds: readonly string[];
	/** Undefined without one. */
	readonly reading: Reading | undefined;
}

/** The kinds of ECMA-419's classes that measure along three axes (§13). */
const AXES: Readonly<Record<string, string>> = Object.freeze({ accelerometer: "acceleration" });

/** Kinds that ECMA-419 measures from 0 to 1, and people in percent. */
const SCALES: Readonly<Record<string, number>> = Object.freeze({ moisture: 100 });

/** Maximum values of one sample. */
const MAX_VALUES = 16;

/**
 * Returns the values in a sample of ECMA-419: `{ thermometer: { temperature: 21 } }` is the temperature 21. Unknown
 * members keep their names; a second member of one name is prefixed with its class.
 *
 * @param scale factors by the names of values
 */
export const flattened = (sample: object, scale: Readonly<Record<string, number>> = SCALES): Values => {
	const values = new Map<string, number | boolean>();
	/** Adds a value under the name of its kind: "co2" for "CO2". */
	const add = (name: string, longName: string, value: number | boolean): void => {
		const lower = name.toLowerCase();
		// The SDK's driver of the CCS811 writes a zero.
		const short = lower === "c02" ? "co2" : lower;
		if (values.size < MAX_VALUES) {
			const factor = scale[short] ?? SCALES[short] ?? 1;
			values.set(
				values.has(short) ? longName.toLowerCase() : short,
				typeof value === "number" ? roundedAs(short, value * factor) : value,
			);
		}
	};
	const entries = Object.entries(sample);
	const [first] = entries;
	if (entries.length === 1 && first !== undefined && isAxes(first[1])) {
		const [name, { x, y, z }] = first;
		return { kinds: [AXES[name] ?? name], reading: { x: rounded(x), y: rounded(y), z: rounded(z) } };
	}
	for (const [name, value] of entries) {
		if (isValue(value)) {
			add(name, name, value);
		} else if (isObject(value) && !ArrayBuffer.isView(value)) {
			for (const [member, each] of Object.entries(value).filter(([, each]) => isValue(each))) {
				add(isAxes(value) ? `${name}_${member}` : member, `${name}_${member}`, each as number | boolean);
			}
		}
	}
	const kinds = [...values.keys()];
	const [only] = kinds;
	if (only === undefined) {
		return { kinds, reading: undefined };
	}
	return { kinds, reading: kinds.length === 1 ? values.get(only) : Object.fromEntries(values) };
};

const isValue = (value: unknown): value is number | boolean =>
	typeof value === "boolean" || (typeof value === "number" && Number.isFinite(value));

const isAxes = (value: unknown): value is Readonly<Record<"x" | "y" | "z", number>> =>
	isObject(value) && [value.x, value.y, value.z].every((axis) => typeof axis === "number");
