import type { Light } from "../hardware/light.js";
import type { SerialLine } from "../hardware/line.js";
import type { Sensor, Sensors } from "../hardware/sensor.js";
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

/** Describes a servo: its last target and its range. */
export const describeServo = ({ title, angle, min, max, error }: Servo): object => ({ title, angle, min, max, error });

/** The line that arrived last. */
export const describeLine = ({ title, last, error }: SerialLine): object => ({ title, last, error });

/** The current value of every sensor, or an `error` if it fails. */
export const sensorsStatus = (sensors: Sensors): object =>
	partsStatus(sensors, (sensor) => {
		try {
			return readSensor(sensor);
		} catch (error) {
			return { kind: sensor.kind, error: error instanceof Error ? error.message : String(error) };
		}
	});

/** The current value of a sensor. */
export const readSensor = (sensor: Sensor): object => {
	// A driver of several things knows what they are after its first sample. JSON omits undefined members.
	const value = sensor.read();
	const { title, kind, unit } = sensor;
	return { title, kind, value, unit };
};
