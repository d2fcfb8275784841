import type { Sensor, Sensors } from "../hardware/sensor.js";

/** The current value of every sensor, or an `error` if it fails. */
export function sensorsStatus(sensors: Sensors): object {
	return Object.fromEntries(
		Object.entries(sensors).map(([name, sensor]) => {
			try {
				return [name, readSensor(sensor)];
			} catch (error) {
				return [name, { kind: sensor.kind, error: error instanceof Error ? error.message : String(error) }];
			}
		}),
	);
}

/** The current value of a sensor. */
export function readSensor(sensor: Sensor): object {
	const { kind, unit } = sensor;
	return { kind, value: sensor.read(), unit };
}
