import type { Sensor, Sensors } from "../hardware/sensor.js";
import { partsStatus } from "./parts-status.js";

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
	// A driver of several things knows what they are after its first sample. JSON leaves out what is undefined.
	const value = sensor.read();
	const { title, kind, unit } = sensor;
	return { title, kind, value, unit };
};
