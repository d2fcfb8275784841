import { digest, type Server } from "xs-mcp-manager/core";
import { GATEWAY_INFO } from "../version.js";
import type { Entities } from "./entities.js";

// Device discovery of Home Assistant 2024.12: https://www.home-assistant.io/integrations/mqtt/#device-discovery-payload

/** Characters of a device's texts. */
const MAX_TEXT = 64;

/** The part of a topic at which texts to say arrive. */
export const ANNOUNCE = "announce";

/**
 * Makes the discovery message of a device.
 *
 * @param offers whether it has a tool that Home Assistant may call
 * @param isAnnounced whether texts can be said on it
 * @param gateway the topic that says whether the gateway is online
 */
export function describeDevice(
	{ id, alias, title = alias, board }: Pick<Server, "id" | "alias" | "title" | "board">,
	entities: Entities,
	offers: (tool: string) => boolean,
	isAnnounced: boolean,
	gateway: string,
): object {
	const key = keyOf(id);
	const { availability, state, stateOf, commandOf } = topicsOf(key);
	const { version: sw_version } = GATEWAY_INFO;
	const entity = (name: string, title: string, more: object) => [
		name,
		{ unique_id: `xs_mcp_${key}_${name}`, name: title, ...more },
	];
	const value = (name: string) => ({ value_template: `{{ value_json['${name}'] }}` });
	const shown = [...entities].filter(([, { tool }]) => tool === undefined || offers(tool));
	const components = [
		entity("state", "State", { platform: "sensor", ...value("state") }),
		...(isAnnounced ? [entity(ANNOUNCE, "Announce", { platform: "notify", command_topic: commandOf(ANNOUNCE) })] : []),
		...shown.map(([name, { title, config, topic }]) => {
			const source = config.platform === "light" && topic ? { state_topic: stateOf(topic) } : value(name);
			return entity(name, title, { ...source, ...(topic && { command_topic: commandOf(topic) }), ...config });
		}),
	];
	return {
		device: { identifiers: [`xs_mcp_${key}`], name: title, model: cut(board.name), sw_version: cut(board.version) },
		origin: { name: GATEWAY_INFO.name, sw_version },
		availability: [{ topic: gateway }, { topic: availability }],
		availability_mode: "all",
		state_topic: state,
		components: Object.fromEntries(components),
	};
}

/** Returns the values of a device's sensors, numbers and switches, to which the templates refer. */
export function describeState(entities: Entities, state: string | null = null): object {
	const values = [...entities].filter(([, { config }]) => config.platform !== "light");
	const shown = values.map(([name, { value }]) => [name, typeof value === "boolean" ? (value ? "ON" : "OFF") : value]);
	return { state, ...Object.fromEntries(shown) };
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

/** Returns the key of a device in topics and unique ids. An id may have any character, and topics may not. */
export function keyOf(id: string): string {
	return digest(id).slice(0, 16);
}

/** Returns the topics of the device with this key. */
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
