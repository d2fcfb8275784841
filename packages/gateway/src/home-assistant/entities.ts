import { isObject } from "xs-mcp-firmware/core/text/json";
import type { MemberType, PartKind } from "xs-mcp-firmware/hardware/kinds/part-kind";
import { READING_VIEWS } from "xs-mcp-firmware/hardware/reading-views";
import { ALL_KINDS } from "xs-mcp-firmware/hardware/vocabulary";
import { jsonIn } from "xs-mcp-manager/core";
import * as z from "zod";

/** Sensors of a device, lights, and axes of a sensor, that are read; numbers that are shown. */
const MAX_PARTS = 32;
const MAX_MEASUREMENTS = 64;

/** Names become parts of topics and templates: a part with another name is not shown. */
const NAME = /^[A-Za-z0-9_]{1,32}$/;

/** An entity of Home Assistant: a measurement of a device, or a part that can be set. */
interface Entity {
	readonly title: string;
	/** Members of its discovery payload, apart from its names and topics. */
	readonly config: { readonly platform: string };
	/** Its value; null while a sensor fails. A light has its own state, in the JSON schema of MQTT lights. */
	readonly value: unknown;
	/** Its part of the command topic, and the tool that sets it; absent in a measurement. */
	readonly topic?: string;
	readonly tool?: string;
}

/** The entities of a device by names that are unique in it. */
export type Entities = ReadonlyMap<string, Entity>;

/** Numbers in the sections of a status. Those with a tool can be set, in percent. */
const NUMBERS = [
	{ name: "volume", section: "audio_speaker", member: "volume", tool: "self.audio_speaker.set_volume" },
	{ name: "brightness", section: "screen", title: "Screen brightness", tool: "self.screen.set_brightness" },
	{ name: "battery", section: "battery", member: "level", kind: "battery", unit: "%" },
	{ name: "chip_temperature", section: "chip", member: "temperature", kind: "temperature", unit: "°C" },
];

const TITLE = z.string().max(64).optional().catch(undefined);
const VALUE = z.union([z.number(), z.boolean()]);
const UNIT = z.string().max(16);
const SENSOR = z.object({
	kind: z.string().max(32),
	title: TITLE,
	value: z.union([VALUE, z.record(z.string(), VALUE)]),
	unit: z.union([UNIT, z.record(z.string(), UNIT)]).optional(),
});

/** The kind of a sensor that measures several things: the members of its values are their kinds. */
const COMBINED = "combined";

/** Platform of a part that can be set. */
type Platform = "light" | "number" | "switch";

/** Platforms of parts by the type of the first value that their tool sets. */
const PLATFORMS: Readonly<Partial<Record<MemberType, Platform>>> = {
	boolean: "switch",
	integer: "number",
	number: "number",
};

/** The kinds of parts that Home Assistant sets, each with the value that is set. A light has several. */
const SHOWN_KINDS = ALL_KINDS.flatMap((kind: PartKind) => {
	const { name, status, tool } = kind;
	const value = status.find((each) => each.name === tool?.sets?.[0]);
	const platform: Platform | undefined = name === "light" ? name : value && PLATFORMS[value.type];
	return tool === undefined || value === undefined || platform === undefined
		? []
		: [{ kind, platform, tool, value, schema: schemaOf(kind) }];
});

/** Returns the schema of a part's values. Those that no tool sets are left out if they are wrong. */
function schemaOf({ status, tool }: PartKind): z.ZodType<Readonly<Record<string, unknown>>> {
	const types: Readonly<Partial<Record<MemberType, z.ZodType>>> = {
		boolean: z.boolean(),
		color: z.string().regex(/^#[0-9a-f]{6}$/i),
		integer: z.number(),
		number: z.number(),
	};
	const values = status.map(({ name, type, isOptional }) => {
		const schema = types[type] ?? z.unknown();
		const isSet = tool?.sets?.includes(name);
		return [name, isSet ? (isOptional ? schema.optional() : schema) : schema.optional().catch(undefined)];
	});
	return z.object({ ...Object.fromEntries(values), title: TITLE });
}

/**
 * Reads the entities in the result of `self.get_device_status`.
 *
 * @param before a sensor that was known then and has no value now stays, without a value
 */
export function readEntities(status: Readonly<Record<string, unknown>>, before: Entities): Entities {
	const numbers = NUMBERS.flatMap(({ name, section, member = name, title = titleOf(name), tool, kind = "", unit }) => {
		const { [section]: values } = status;
		const value = isObject(values) ? values[member] : undefined;
		const range = { platform: "number", min: 0, max: 100, unit_of_measurement: "%" };
		const entity = tool ? { config: range, topic: name, tool } : { config: describeSensor(kind, unit, value) };
		return typeof value === "number" ? [[name, { title, value, ...entity }] as [string, Entity]] : [];
	});
	const sensors = partsOf(status.sensors).flatMap(([name, reading]) => measure(name, reading));
	const parts = SHOWN_KINDS.flatMap(({ kind, platform, tool, value, schema }) =>
		partsOf(status[kind.plural]).flatMap(([name, part]): [string, Entity][] => {
			const { data: values } = schema.safeParse(part);
			if (values === undefined) {
				return [];
			}
			const title = (values.title as string) || titleOf(platform === "light" ? `${kind.name}_${name}` : name);
			const [min, max] = (value.range ?? []).map((limit) => (typeof limit === "number" ? limit : values[limit]));
			const number = { platform, min, max, unit_of_measurement: value.unit };
			const described =
				platform === "light"
					? describeLight(values as unknown as Light)
					: { config: platform === "number" ? number : { platform }, value: values[value.name] ?? null };
			const command = { topic: `${kind.name}-${name}`, tool: tool.name };
			return [[`${kind.name}_${name}`, { title, ...described, ...command }]];
		}),
	);
	const isMeasurement = ([, { tool }]: readonly [string, Entity]): boolean => tool === undefined;
	const now = [...numbers.filter(isMeasurement), ...sensors];
	const missing = [...before].filter(isMeasurement).map(([name, each]) => [name, { ...each, value: null }] as const);
	const all = new Map([...missing, ...now]);
	const measurements = all.size <= MAX_MEASUREMENTS ? all : new Map(now.slice(0, MAX_MEASUREMENTS));
	return new Map([...numbers, ...parts, ...measurements]);
}

/** Returns the entities of a sensor: none if it fails, several if its value has members. */
function measure(sensor: string, reading: unknown): [string, Entity][] {
	const { data } = SENSOR.safeParse(reading);
	if (data === undefined) {
		return [];
	}
	const { kind, title: given, value, unit } = data;
	const values = typeof value === "object" ? partsOf(value) : [["", value] as const];
	return values.map(([member, each]) => {
		const suffix = member && `_${member}`;
		const title = given ? `${given}${suffix.replaceAll("_", " ")}` : titleOf(`${sensor}${suffix}`);
		const ownUnit = typeof unit === "object" ? unit[member] : unit;
		const config = describeSensor(kind === COMBINED ? member : kind, ownUnit, each);
		return [`sensor_${sensor}${suffix}`, { title, config, value: each }];
	});
}

/** The device classes of its binary sensors: https://www.home-assistant.io/integrations/binary_sensor/#device-class */
const BINARY_CLASSES: ReadonlySet<string> = new Set([
	...["battery", "carbon_monoxide", "cold", "connectivity", "door", "garage_door", "gas", "heat", "light", "lock"],
	...["moisture", "motion", "moving", "occupancy", "opening", "plug", "power", "presence", "problem", "running"],
	...["safety", "smoke", "sound", "tamper", "vibration", "window"],
]);

function describeSensor(kind: string, unit: string | undefined, value: unknown): Entity["config"] {
	if (typeof value === "boolean") {
		return { platform: "binary_sensor", ...(BINARY_CLASSES.has(kind) && { device_class: kind }) };
	}
	const { units = [], deviceClass: device_class = kind } = READING_VIEWS[kind] ?? {};
	const about = { platform: "sensor", state_class: "measurement", unit_of_measurement: unit };
	// Home Assistant rejects a device class with a unit that it does not know for it.
	return { ...about, ...(unit !== undefined && units.includes(unit) && { device_class }) };
}

/** Values of a light in the status. */
interface Light {
	readonly on: boolean;
	readonly brightness?: number;
	readonly color?: string;
}

function describeLight({ on, brightness, color }: Light) {
	const color_mode = color !== undefined ? "rgb" : brightness === undefined ? "onoff" : "brightness";
	const [r, g, b] = (color?.match(/[0-9a-f]{2}/gi) ?? []).map((hex) => Number.parseInt(hex, 16));
	const dimmed = brightness !== undefined && { brightness: true, brightness_scale: 100 };
	return {
		config: { platform: "light", schema: "json", supported_color_modes: [color_mode], ...dimmed },
		value: { state: on ? "ON" : "OFF", color_mode, brightness, ...(color !== undefined && { color: { r, g, b } }) },
	};
}

/** Returns a title for people: "air_temperature" is "Air temperature". */
function titleOf(name: string): string {
	return (name.charAt(0).toUpperCase() + name.slice(1)).replaceAll("_", " ");
}

function partsOf(parts: unknown): [string, unknown][] {
	const named = isObject(parts) ? Object.entries(parts).filter(([name]) => NAME.test(name)) : [];
	return named.slice(0, MAX_PARTS);
}

/** Bytes of a command: Home Assistant's have about 80. */
const MAX_COMMAND = 1_024;

const CHANNEL = z.int().min(0).max(255);
const LIGHT_COMMAND = z.object({
	state: z.enum(["ON", "OFF"]),
	brightness: z.int().optional(),
	color: z.object({ r: CHANNEL, g: CHANNEL, b: CHANNEL }).optional(),
});

/**
 * Reads a command of Home Assistant's, as a call of a device's tool. The tool's schema checks the ranges.
 *
 * @param topic the entity's part of the command's topic
 * @throws Error if the command is malformed
 */
export function readCommand(topic: string, payload: Buffer): { readonly tool: string; readonly args: object } {
	if (payload.length > MAX_COMMAND) {
		throw new Error(`command too long (limit ${MAX_COMMAND} bytes)`);
	}
	const text = payload.toString();
	const refuse = (expected: string): never => {
		throw new Error(`expected ${expected}, got ${JSON.stringify(text.slice(0, 64))}`);
	};
	const number = NUMBERS.find(({ name, tool }) => name === topic && tool !== undefined);
	if (number?.tool !== undefined) {
		const value = /^\d{1,3}(\.0+)?$/.test(text) ? Number(text) : refuse("a number from 0 to 100");
		return { tool: number.tool, args: { [topic]: value } };
	}
	const shown = SHOWN_KINDS.find(({ kind }) => topic.startsWith(`${kind.name}-`));
	if (shown === undefined) {
		throw new Error(`unknown part ${JSON.stringify(topic)}`);
	}
	const { kind, platform, tool, value } = shown;
	const call = (args: object) => ({
		tool: tool.name,
		args: { [tool.part]: topic.slice(kind.name.length + 1), ...args },
	});
	switch (platform) {
		case "light": {
			const { state, brightness, color } =
				LIGHT_COMMAND.safeParse(jsonIn(text)).data ?? refuse("a command for a light");
			const channels = color && [color.r, color.g, color.b].map((each) => each.toString(16).padStart(2, "0"));
			return call({
				on: state === "ON",
				...(brightness !== undefined && { brightness }),
				...(channels && { color: `#${channels.join("")}` }),
			});
		}
		case "number":
			return call({ [value.name]: /^-?\d{1,9}(\.\d{1,9})?$/.test(text) ? Number(text) : refuse("a number") });
		case "switch":
			return call({ [value.name]: text === "ON" || (text !== "OFF" && refuse("ON or OFF")) });
	}
}
