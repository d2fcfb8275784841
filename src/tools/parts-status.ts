import type { SerialLines } from "../hardware/line.js";
import type { Servos } from "../hardware/servo.js";
import type { Switch, Switches } from "../hardware/switch.js";

/** The switches in the device's status. */
export function switchesStatus(switches: Switches): object {
	return Object.fromEntries(Object.entries(switches).map(([name, each]) => [name, describeSwitch(each)]));
}

/** Whether a switch is on, and for how long. JSON leaves out what is undefined. */
export function describeSwitch({ title, on, maxOn, left, error }: Switch): object {
	return { title, on, seconds_left: left, max_seconds: maxOn, error };
}

/** The servos in the device's status. */
export function servosStatus(servos: Servos): object {
	return Object.fromEntries(
		Object.entries(servos).map(([name, { title, angle, min, max, error }]) => [
			name,
			{ title, angle, min, max, error },
		]),
	);
}

/** The serial lines in the device's status. */
export function linesStatus(lines: SerialLines): object {
	return Object.fromEntries(
		Object.entries(lines).map(([name, { title, last, error }]) => [name, { title, last, error }]),
	);
}
