import type { Sensor, Sensors } from "../hardware/sensor.js";
import { optional, string } from "../mcp_server/schema.js";
import { defineTool } from "./support/define-tool.js";
import { findPart } from "./support/find-part.js";
import { READS } from "./support/hints.js";

export default defineTool({
	name: "self.sensor.read",
	title: "Read sensors",
	description:
		"Read one sensor of the device, or all of them: temperature, light, motion.\n" +
		"Returns a JSON object with the kind, value and unit of each sensor, by the sensor's name.",
	annotations: READS,
	needs: ["sensors"],
	input: {
		sensor: optional(string({ maxLength: 64, description: "The sensor's name. If left out, every sensor is read" })),
	},
	output: {},
	run({ sensor: name }, { sensors }) {
		return name === undefined ? sensorsStatus(sensors) : { [name]: readSensor(findPart(sensors, "sensor", name)) };
	},
});

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

function readSensor(sensor: Sensor): object {
	const { kind, unit } = sensor;
	return { kind, value: sensor.read(), unit };
}
