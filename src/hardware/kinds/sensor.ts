import { definePartKind } from "./part-kind.js";

/**
 * Measured quantity: a kind of src/hardware/sensor-kinds.ts, or another word. "motion" with three values is the
 * acceleration along its axes, and with a boolean, whether something moves. "combined" measures several things: the members of
 * its values are their kinds.
 */
type SensorKind = string;

/** A number, true or false, or several named values: `{ x, y, z }`. */
export type Reading = number | boolean | Readonly<Record<string, number | boolean>>;

export interface Sensor {
	readonly kind: SensorKind;
	/** Its name for people. */
	readonly title?: string | undefined;
	/** Unit of its values: "°C", "lx", "m/s²". By member, if it measures several things. Undefined without a unit. */
	readonly unit: string | Readonly<Record<string, string>> | undefined;
	/** @throws Error if the sensor does not answer, or has no value yet */
	read(): Reading;
	/** The value at the latest poll; undefined if it failed. Absent in a sensor that is not polled. */
	readonly latest?: Reading | undefined;
	/** Called when the value has changed noticeably. Not every sensor calls it. */
	onChange: ((reading: Reading) => void) | undefined;
}

export const sensor = definePartKind<Sensor>()({
	name: "sensor",
	plural: "sensors",
	status: [
		{ name: "kind", type: "string" },
		{ name: "value", type: "reading", from: "read" },
		{ name: "unit", type: "unit", isOptional: true },
	],
	tool: { name: "self.sensor.read", part: "sensor" },
	event: {
		name: "sensor.changed",
		by: "onChange",
		data: [
			{ name: "kind", type: "string", isOptional: true },
			{ name: "value", type: "reading", at: 0 },
			{ name: "unit", type: "unit", isOptional: true },
		],
	},
});
