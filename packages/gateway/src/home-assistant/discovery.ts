import { READING_VIEWS } from "xs-mcp-firmware/hardware/reading-views";
import { digest, type Server } from "xs-mcp-manager/core";
import { GATEWAY_INFO } from "../version.js";
import { type Measurement, SHOWN_KINDS, type Status } from "./status.js";

// Device discovery of Home Assistant 2024.12: https://www.home-assistant.io/integrations/mqtt/#device-discovery-payload

/** Characters of a device's texts. */
const MAX_TEXT = 64;

/** The tools that Home Assistant's entities call. */
export const TOOLS = {
	volume: "self.audio_speaker.set_volume",
	brightness: "self.screen.set_brightness",
} as const;

/** The part of a topic at which texts to say arrive. */
export const ANNOUNCE = "announce";

/** The device classes of its binary sensors: https://www.home-assistant.io/integrations/binary_sensor/#device-class */
const BINARY_CLASSES: ReadonlySet<string> = new Set([
	...["battery", "carbon_monoxide", "cold", "connectivity", "door", "garage_door", "gas", "heat", "light", "lock"],
	...["moisture", "motion", "moving", "occupancy", "opening", "plug", "power", "presence", "problem", "running"],
	...["safety", "smoke", "sound", "tamper", "vibration", "window"],
]);

/**
 * The discovery message of a device.
 *
 * @param offers whether it has a tool that Home Assistant may call
 * @param isAnnounced whether texts can be said on it
 * @param gateway the topic that says whether the gateway is online
 */
export function describeDevice(
	{ id, alias, title = alias, board }: Pick<Server, "id" | "alias" | "title" | "board">,
	status: Status,
	offers: (tool: string) => boolean,
	isAnnounced: boolean,
	gateway: string,
): object {
	const key = keyOf(id);
	const { availability, state, stateOf, commandOf } = topicsOf(key);
	const { version: sw_version } = GATEWAY_INFO;
	const entity = (name: string, more: object) => ({ unique_id: `xs_mcp_${key}_${name}`, name: titleOf(name), ...more });
	const value = (name: string) => ({ value_template: `{{ value_json['${name}'] }}` });
	const number = (name: "volume" | "brightness", title: string) => {
		const command_topic = commandOf(name);
		const range = { min: 0, max: 100, unit_of_measurement: "%" };
		return status[name] !== undefined && offers(TOOLS[name])
			? { [name]: entity(name, { name: title, platform: "number", ...value(name), command_topic, ...range }) }
			: {};
	};
	const sensors = [...status.measurements].map(([name, each]) => {
		const binary = { platform: "binary_sensor", ...(BINARY_CLASSES.has(each.kind) && { device_class: each.kind }) };
		return [name, entity(name, { ...value(name), ...(each.isBinary ? binary : describeUnit(each)), ...titled(each) })];
	});
	const parts = [...status.parts.values()].filter(({ tool }) => offers(tool.name));
	const entities = parts.map(({ key: own, topic, component, value: { unit, range = [] }, state: values }) => {
		const command_topic = commandOf(topic);
		const [min, max] = range.map((limit) => (typeof limit === "number" ? limit : values[limit]));
		const light = values as unknown as Light;
		const dimmed = light.brightness !== undefined && { brightness: true, brightness_scale: 100 };
		const settings = {
			light: { schema: "json", supported_color_modes: [colorModeOf(light)], ...dimmed },
			number: { ...value(own), min, max, unit_of_measurement: unit },
			switch: value(own),
		}[component];
		const state_topic = component === "light" ? { state_topic: stateOf(topic) } : {};
		return [own, entity(own, { platform: component, ...state_topic, command_topic, ...settings, ...titled(values) })];
	});
	return {
		device: { identifiers: [`xs_mcp_${key}`], name: title, model: cut(board.name), sw_version: cut(board.version) },
		origin: { name: GATEWAY_INFO.name, sw_version },
		availability: [{ topic: gateway }, { topic: availability }],
		availability_mode: "all",
		state_topic: state,
		components: {
			state: entity("state", { platform: "sensor", ...value("state") }),
			...(isAnnounced && {
				[ANNOUNCE]: entity(ANNOUNCE, { platform: "notify", command_topic: commandOf(ANNOUNCE) }),
			}),
			...number("volume", "Volume"),
			...number("brightness", "Screen brightness"),
			...Object.fromEntries(sensors),
			...Object.fromEntries(entities),
		},
	};
}

/** The values of a device's sensors and numbers, to which the templates refer. */
export function describeState(
	{ volume, brightness, measurements, parts }: Status,
	state: string | null = null,
): object {
	const values = [
		...[...measurements].map(([name, { value }]) => [name, value] as const),
		...[...parts.values()]
			.filter(({ component }) => component !== "light")
			.map(({ key, value: { name }, state: values }) => [key, values[name] ?? null] as const),
	];
	const shown = values.map(([name, value]) => [name, typeof value === "boolean" ? onOrOff(value) : value]);
	return { state, volume, brightness, ...Object.fromEntries(shown) };
}

/** Values of a light in the status. */
interface Light {
	readonly on: boolean;
	readonly brightness?: number;
	readonly color?: string;
}

/** The states of a device's lights in the JSON schema of MQTT lights, by their topics. */
export function describeLights({ parts }: Status): ReadonlyMap<string, object> {
	const lights = [...parts].filter(([, { component }]) => component === "light");
	return new Map(
		lights.map(([topic, { state }]) => {
			const light = state as unknown as Light;
			const [r, g, b] = (light.color?.match(/[0-9a-f]{2}/gi) ?? []).map((hex) => Number.parseInt(hex, 16));
			const { brightness } = light;
			const color = light.color !== undefined && { color: { r, g, b } };
			return [topic, { state: onOrOff(light.on), color_mode: colorModeOf(light), brightness, ...color }];
		}),
	);
}

function colorModeOf({ brightness, color }: Omit<Light, "on">): string {
	if (color !== undefined) {
		return "rgb";
	}
	return brightness === undefined ? "onoff" : "brightness";
}

function describeUnit({ kind, unit }: Measurement): object {
	const { units = [], deviceClass: device_class = kind } = READING_VIEWS[kind] ?? {};
	const about = { platform: "sensor", state_class: "measurement", unit_of_measurement: unit };
	// Home Assistant rejects a device class with a unit that it does not know for it.
	return { ...about, ...(unit !== undefined && units.includes(unit) && { device_class }) };
}

function titled({ title }: { readonly title?: string | undefined }): object {
	return title === undefined || title === "" ? {} : { name: title };
}

function onOrOff(isOn: boolean): "ON" | "OFF" {
	return isOn ? "ON" : "OFF";
}

/** The kinds whose parts have their name alone as a title. */
const UNNAMED = ["sensor", ...SHOWN_KINDS.flatMap(({ kind, component }) => (component === "light" ? [] : [kind.name]))];

/** "sensor_temperature" is "Temperature". */
function titleOf(name: string): string {
	const prefix = UNNAMED.find((kind) => name.startsWith(`${kind}_`));
	const words = name.slice(prefix === undefined ? 0 : prefix.length + 1).replaceAll("_", " ");
	return words.charAt(0).toUpperCase() + words.slice(1);
}

function cut(text: string): string {
	return text.slice(0, MAX_TEXT);
}

/** The root of every topic but Home Assistant's own. */
export const ROOT = "xs-mcp-gateway";

/** Home Assistant's default topic prefix for the discovery of devices. */
const DISCOVERY = "homeassistant/device";

/** The commands for every part of every device, as a subscription. */
export const ALL_COMMANDS = `${ROOT}/+/+/set`;

/** Stands for a device in topics and unique ids. An id may have any character, and topics may not. */
export function keyOf(id: string): string {
	return digest(id).slice(0, 16);
}

/** The topics of the device with this key. */
export function topicsOf(key: string) {
	const base = `${ROOT}/${key}`;
	return {
		config: `${DISCOVERY}/xs_mcp_${key}/config`,
		availability: `${base}/availability`,
		state: `${base}/state`,
		stateOf: (part: string) => `${base}/${part}/state`,
		commandOf: (part: string) => `${base}/${part}/set`,
	};
}
