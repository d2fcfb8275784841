/** A value of a device that is kept. */
export type Value = number | boolean | string;

/** Levels of a status, and values of one device, that are kept. */
const MAX_LEVELS = 6;
export const MAX_VALUES = 100;

/** Characters of a value's path. */
const MAX_PATH = 100;

/** The only text that changes as a reading does: the strength of the network's signal. */
const TEXT = /(^|\.)signal$/;
const MAX_TEXT = 32;

/** The numbers, the switches and the signal in a device's status, by their paths: `sensors.temperature.value`. */
export function valuesIn(status: unknown): Map<string, Value> {
	const found = new Map<string, Value>();
	const visit = (value: unknown, path: readonly string[]): void => {
		const name = path.join(".");
		if (typeof value === "object" && value !== null && path.length < MAX_LEVELS) {
			for (const [key, member] of Object.entries(value)) {
				visit(member, [...path, key]);
			}
		} else if (isKept(value, name) && found.size < MAX_VALUES) {
			found.set(name, value);
		}
	};
	visit(status, []);
	return found;
}

function isKept(value: unknown, path: string): value is Value {
	const isReading = typeof value === "number" || typeof value === "boolean";
	const isText = typeof value === "string" && value.length <= MAX_TEXT && TEXT.test(path);
	return (isReading || isText) && path.length <= MAX_PATH;
}
