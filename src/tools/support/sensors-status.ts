import type { Sensor, Sensors } from "../../hardware/sensor.js";

/** What every sensor measures now. A sensor that fails has an `error` in the place of its value. */
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

/** What a sensor measures now. */
export function readSensor(sensor: Sensor): object {
	const { kind, unit } = sensor;
	return { kind, value: sensor.read(), unit };
}
