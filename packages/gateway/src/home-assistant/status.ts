import type { CallToolResult } from "@modelcontextprotocol/client";
import { isObject } from "xs-mcp-firmware/core/text/json";
import type { MemberType, PartKind } from "xs-mcp-firmware/hardware/kinds/part-kind";
import { ALL_KINDS } from "xs-mcp-firmware/hardware/vocabulary";
import { jsonOf } from "xs-mcp-manager/core";
import * as z from "zod";

/** Sensors of a device, lights, and axes of a sensor, that are read; numbers that are shown. */
const MAX_PARTS = 32;
const MAX_MEASUREMENTS = 64;

/** Names become parts of topics and templates: a part with another name is not shown. */
const NAME = /^[A-Za-z0-9_]{1,32}$/;

const NUMBER = z.number();
const TITLE = z.string().max(64).optional().catch(undefined);
const VALUE = z.union([NUMBER, z.boolean()]);
const UNIT = z.string().max(16);
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
	sensors: z.unknown().optional(),
});

/** Entity of Home Assistant for parts of a kind. */
type Component = "light" | "number" | "switch";

/** Entities of parts by the type of the first value that their tool sets. */
const COMPONENTS: Readonly<Partial<Record<MemberType, Component>>> = {
	boolean: "switch",
	integer: "number",
	number: "number",
};

/** A kind of parts that Home Assistant sets. */
interface ShownKind {
	readonly kind: PartKind;
	readonly component: Component;
	/** The tool that sets a part, and its argument that names the part. */
	readonly tool: NonNullable<PartKind["tool"]>;
	/** The value that is set. A light has several. */
	readonly value: PartKind["status"][number];
	readonly schema: z.ZodType<PartState>;
}

/** A part in a status: its title, and its values by their names. */
interface PartState {
	readonly title?: string | undefined;
	readonly [value: string]: unknown;
}

/** A part as Home Assistant shows it. */
interface ShownPart extends ShownKind {
	/** Stands for the part in entities: "switch_pump". */
	readonly key: string;
	/** Stands for the part in topics: "switch-pump". */
	readonly topic: string;
	readonly state: PartState;
}

/** The kinds of parts that Home Assistant sets. */
export const SHOWN_KINDS: readonly ShownKind[] = ALL_KINDS.flatMap((kind) => {
	const { name, status, tool } = kind;
	const value = status.find((each) => each.name === tool?.sets?.[0]);
	const component = name === "light" ? name : value && COMPONENTS[value.type];
	return tool === undefined || value === undefined || component === undefined
		? []
		: [{ kind, component, tool, value, schema: schemaOf(kind) }];
});

/** The schema of a part's values. Those that no tool sets are left out if they are wrong. */
function schemaOf({ status, tool }: PartKind): z.ZodType<PartState> {
	const types: Readonly<Partial<Record<MemberType, z.ZodType>>> = {
		boolean: z.boolean(),
		color: z.string().regex(/^#[0-9a-f]{6}$/i),
		integer: NUMBER,
		number: NUMBER,
	};
	const values = status.map(({ name, type, isOptional }) => {
		const schema = types[type] ?? z.unknown();
		const isSet = tool?.sets?.includes(name);
		return [name, isSet ? (isOptional ? schema.optional() : schema) : schema.optional().catch(undefined)];
	});
	return z.object({ ...Object.fromEntries(values), title: TITLE });
}

/** A number that a device measures, or whether something is so; null while its sensor fails. */
export interface Measurement {
	readonly kind: string;
	readonly value: number | boolean | null;
	/** Whether its values are true and false. */
	readonly isBinary?: boolean;
	readonly unit: string | undefined;
	readonly title?: string | undefined;
}

/** The parts of a device, as far as Home Assistant shows them. */
export interface Status {
	readonly volume?: number | undefined;
	readonly brightness?: number | undefined;
	/** Parts that can be set, by their topics. */
	readonly parts: ReadonlyMap<string, ShownPart>;
	/** Measurements by a name that is unique in the device. */
	readonly measurements: ReadonlyMap<string, Measurement>;
}

/** The status of a device that has reported none. */
export const NO_STATUS: Status = { parts: new Map(), measurements: new Map() };

/**
 * Reads the result of `self.get_device_status`.
 *
 * @param before a sensor that was known then and has no value now stays, without a value
 * @returns undefined if the result is not a status
 */
export function readStatus(result: CallToolResult, before: Status): Status | undefined {
	const reported = jsonOf(result);
	const { data } = STATUS.safeParse(reported);
	if (data === undefined) {
		return undefined;
	}
	const { audio_speaker: speaker, screen, battery, chip, sensors } = data;
	const now: (readonly [string, Measurement])[] = [
		...(battery ? [["battery", { kind: "battery", value: battery.level, unit: "%" }] as const] : []),
		...(chip ? [["chip_temperature", { kind: "temperature", value: chip.temperature, unit: "°C" }] as const] : []),
		...partsOf(sensors).flatMap(([name, value]) => measure(name, value)),
	];
	const missing = [...before.measurements].map(([name, each]) => [name, { ...each, value: null }] as const);
	const measurements = new Map([...missing, ...now]);
	const parts = SHOWN_KINDS.flatMap((shown) =>
		partsOf((reported as Readonly<Record<string, unknown>>)[shown.kind.plural]).flatMap(([name, value]) => {
			const { data: state } = shown.schema.safeParse(value);
			const topic = `${shown.kind.name}-${name}`;
			const part: ShownPart | undefined = state && { ...shown, key: `${shown.kind.name}_${name}`, topic, state };
			return part === undefined ? [] : [[topic, part] as const];
		}),
	);
	return {
		volume: speaker?.volume,
		brightness: screen?.brightness,
		parts: new Map(parts),
		measurements: measurements.size <= MAX_MEASUREMENTS ? measurements : new Map(now.slice(0, MAX_MEASUREMENTS)),
	};
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
