import { describePart, describeParts } from "../../hardware/kinds/describe-parts.js";
import { sensor as sensorKind } from "../../hardware/kinds/sensor.js";
import { defineTool, findPart, optional, READS, string } from "../define-tool.js";

export default defineTool({
	name: "self.sensor.read",
	title: "Read sensors",
	description:
		"Read one sensor of the device, or all of them: temperature, light, motion, or what else it measures.\n" +
		"Returns a JSON object with the kind, value and unit of each sensor, by the sensor's name.",
	annotations: READS,
	needs: ["sensors"],
	input: {
		sensor: optional(string({ maxLength: 64, description: "The sensor's name. If left out, every sensor is read" })),
	},
	output: {},
	run: ({ sensor: name }, { sensors }) =>
		name === undefined
			? describeParts(sensorKind, sensors)
			: { [name]: describePart(sensorKind, findPart(sensors, "sensor", name)) },
});
