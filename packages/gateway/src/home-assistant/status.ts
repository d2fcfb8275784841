import type { CallToolResult } from "@modelcontextprotocol/client";
import { jsonOf } from "xs-mcp-manager/core";
import * as z from "zod";
import { isObject } from "../firmware.js";

/** Sensors of a device, lights, and axes of a sensor, that are read; numbers that are shown. */
const MAX_PARTS = 32;
const MAX_MEASUREMENTS = 64;

/** Names become parts of topics and templates: a part with another name is not shown. */
const NAME = /^[A-Za-z0-9_]{1,32}$/;

const NUMBER = z.number();
const TITLE = z.string().max(64).optional().catch(undefined);
const LIGHT = z.object({
	on: z.boolean(),
	brightness: NUMBER.optional(),
	color: z
		.string()
		.regex(/^#[0-9a-f]{6}$/i)
		.optional(),
	title: TITLE,
});
const VALUE = z.union([NUMBER, z.boolean()]);
const UNIT = z.string().max(16);
const SWITCH = z.object({ on: z.boolean(), title: TITLE });
const SENSOR = z.object({
	kind: z.string().max(32),
	title: TITLE,
	value: z.union([VALUE, z.record(z.string(), VALUE)]),
	unit: z.union([UNIT, z.record(z.string(), UNIT)]).optional(),
});

/** The kind of a sensor that measures several things: the members of its values are their kinds. */
const COMBINED = "combined";
const STATUS = z.object({
	audio_speaker: z.object({ volume: NUMBER }).optional().catch(undefined),
	screen: z.object({ brightness: NUMBER }).optional().catch(undefined),
	battery: z.object({ level: NUMBER }).optional().catch(undefined),
	chip: z.object({ temperature: NUMBER }).optional().catch(undefined),
	lights: z.unknown().optional(),
	sensors: z.unknown().optional(),
	switches: z.unknown().optional(),
});

export type Light = z.infer<typeof LIGHT>;
type Switch = z.infer<typeof SWITCH>;

/** A number that a device measures, or whether something is so; null while its sensor fails. */
export interface Measurement {
	readonly kind: string;
	readonly value: number | boolean | null;
	/** Whether its values are true and false. */
	readonly isBinary?: boolean;
	readonly unit: string | undefined;
	/** Its name for people. */
	readonly title?: string | undefined;
}

/** The parts of a device, as far as Home Assistant shows them. */
export interface Status {
	readonly volume?: number | undefined;
	/** Brightness of the screen. */
	readonly brightness?: number | undefined;
	readonly lights: ReadonlyMap<string, Light>;
	readonly switches: ReadonlyMap<string, Switch>;
	/** Measurements by a name that is unique in the device. */
	readonly measurements: ReadonlyMap<string, Measurement>;
}

/** The status of a device that has reported none. */
export const NO_STATUS: Status = { lights: new Map(), switches: new Map(), measurements: new Map() };

/**
 * Reads the result of `self.get_device_status`.
 *
 * @param before a sensor that was known then and has no value now stays, without a value
 * @returns undefined if the result is not a status
 */
export function readStatus(result: CallToolResult, before: Status): Status | undefined {
	const { data } = STATUS.safeParse(jsonOf(result));
	if (data === undefined) {
		return undefined;
	}
	const { audio_speaker: speaker, screen, battery, chip, lights, switches, sensors } = data;
	const now: (readonly [string, Measurement])[] = [
		...(battery ? [["battery", { kind: "battery", value: battery.level, unit: "%" }] as const] : []),
		...(chip ? [["chip_temperature", { kind: "temperature", value: chip.temperature, unit: "°C" }] as const] : []),
		...partsOf(sensors).flatMap(([name, value]) => measure(name, value)),
	];
	const missing = [...before.measurements].map(([name, each]) => [name, { ...each, value: null }] as const);
	const measurements = new Map([...missing, ...now]);
	return {
		volume: speaker?.volume,
		brightness: screen?.brightness,
		lights: new Map(partsOf(lights).flatMap(([name, value]) => readPart(LIGHT, name, value))),
		switches: new Map(partsOf(switches).flatMap(([name, value]) => readPart(SWITCH, name, value))),
		measurements: measurements.size <= MAX_MEASUREMENTS ? measurements : new Map(now.slice(0, MAX_MEASUREMENTS)),
	};
}

function readPart<Part>(schema: z.ZodType<Part>, name: string, value: unknown): [string, Part][] {
	const { data } = schema.safeParse(value);
	return data === undefined ? [] : [[name, data]];
}

/** The status after `notifications/sensor_changed` with these params. */
export function withSensor(status: Status, { sensor, ...params }: Readonly<Record<string, unknown>>): Status {
	const measured = measure(String(sensor), params).filter(([name]) => status.measurements.has(name));
	return measured.length === 0 ? status : { ...status, measurements: new Map([...status.measurements, ...measured]) };
}

/** Returns a sensor's value by its name; a value with members becomes several. Empty if the sensor fails. */
function measure(sensor: string, reading: unknown): [string, Measurement][] {
	const { data } = SENSOR.safeParse(reading);
	if (data === undefined) {
		return [];
	}
	const { kind, title, value, unit } = data;
	const values = typeof value === "object" ? partsOf(value) : [["", value] as const];
	return values.map(([member, each]) => [
		member === "" ? `sensor_${sensor}` : `sensor_${sensor}_${member}`,
		{
			kind: kind === COMBINED ? member : kind,
			value: each as number | boolean,
			unit: typeof unit === "object" ? unit[member] : unit,
			...(typeof each === "boolean" && { isBinary: true }),
			...(title !== undefined && { title: member === "" ? title : `${title} ${member.replaceAll("_", " ")}` }),
		},
	]);
}

function partsOf(parts: unknown): [string, unknown][] {
	const named = isObject(parts) ? Object.entries(parts).filter(([name]) => NAME.test(name)) : [];
	return named.slice(0, MAX_PARTS);
}
