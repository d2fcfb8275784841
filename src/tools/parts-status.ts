import type { Light } from "../hardware/light.js";
import type { SerialLine } from "../hardware/line.js";
import type { Servo } from "../hardware/servo.js";
import type { Switch } from "../hardware/switch.js";
import { formatColor } from "./color.js";

/** Parts of a kind in the device's status. JSON leaves out what is undefined in a description. */
export const partsStatus = <Part>(parts: Readonly<Record<string, Part>>, describe: (part: Part) => object): object =>
	Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, describe(part)]));

/** How a light is. */
export const describeLight = ({ title, on, brightness, color, error }: Light): object => ({
	title,
	on,
	brightness,
	color: color === undefined ? undefined : formatColor(color),
	error,
});

/** Whether a switch is on, and for how long. */
export const describeSwitch = ({ title, on, maxOn, left, error }: Switch): object => ({
	title,
	on,
	seconds_left: left,
	max_seconds: maxOn,
	error,
});

/** Where a servo was moved last, and its range. */
export const describeServo = ({ title, angle, min, max, error }: Servo): object => ({ title, angle, min, max, error });

/** The line that arrived last. */
export const describeLine = ({ title, last, error }: SerialLine): object => ({ title, last, error });
