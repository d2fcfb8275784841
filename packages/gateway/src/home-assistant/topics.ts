import { createHash } from "node:crypto";

/** The root of every topic but Home Assistant's own. */
const ROOT = "xs-mcp-gateway";

/** Home Assistant's default topic prefix for the discovery of devices. */
const DISCOVERY = "homeassistant/device";

/** The commands for every part of every device, as a subscription. */
export const ALL_COMMANDS = `${ROOT}/+/+/set`;

/** The topic that says whether a gateway is online. */
export function gatewayTopic(name: string): string {
	return `${ROOT}/gateway/${name}`;
}

/** Stands for a device in topics and unique ids. An id may have any character, and topics may not. */
export function keyOf(id: string): string {
	return createHash("sha256").update(id).digest("hex").slice(0, 16);
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

/** The device and the part that a topic of {@link ALL_COMMANDS} names. */
export function readCommandTopic(topic: string): { key: string; part: string } {
	const [, key = "", part = ""] = topic.split("/");
	return { key, part };
}
