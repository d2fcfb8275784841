import type { Light } from "../hardware/light.js";
import type { SerialLine } from "../hardware/line.js";
import type { Servo } from "../hardware/servo.js";
import type { Switch } from "../hardware/switch.js";
import { formatColor } from "./color.js";

/** Parts of a kind in the device's status. JSON leaves out what is undefined in a description. */
export function partsStatus<Part>(parts: Readonly<Record<string, Part>>, describe: (part: Part) => object): object {
	return Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, describe(part)]));
}

/** How a light is. */
export function describeLight({ title, on, brightness, color, error }: Light): object {
	return { title, on, brightness, color: color === undefined ? undefined : formatColor(color), error };
}

/** Whether a switch is on, and for how long. */
export function describeSwitch({ title, on, maxOn, left, error }: Switch): object {
	return { title, on, seconds_left: left, max_seconds: maxOn, error };
}

/** Where a servo was moved last, and its range. */
export function describeServo({ title, angle, min, max, error }: Servo): object {
	return { title, angle, min, max, error };
}

/** The line that arrived last. */
export function describeLine({ title, last, error }: SerialLine): object {
	return { title, last, error };
}
