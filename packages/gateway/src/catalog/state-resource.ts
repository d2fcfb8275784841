import type { Resource, TextResourceContents } from "@modelcontextprotocol/server";
import { isObject } from "xs-mcp-firmware/core/text/json";
import type { Server } from "xs-mcp-manager/core";

/** The resource with a device's own state, and the time-out for reading it, ms. */
const OWN_STATE = "device://self/state";
const OWN_STATE_TIMEOUT = 2_000;

const MIME_TYPE = "application/json";

/** The resource template of {@link stateUri} (RFC 6570). */
export const STATE_TEMPLATE = {
	uriTemplate: "device://{alias}/state",
	name: "state",
	title: "State of a device",
	description: "Whether the device is online, its state, board and firmware, and when it was last seen.",
	mimeType: MIME_TYPE,
};

/** The URI of the resource that holds a server's state. An alias needs no escaping. */
export function stateUri({ alias }: Server): string {
	return `device://${alias}/state`;
}

/** The alias in a {@link stateUri}; undefined in any other URI. */
export function aliasInStateUri(uri: string): string | undefined {
	return /^device:\/\/([^/]+)\/state$/.exec(uri)?.[1];
}

/** The resource that holds a server's state, as a client lists it. */
export function stateResource(server: Server): Resource {
	const { title, description, mimeType } = STATE_TEMPLATE;
	const { alias } = server;
	return { uri: stateUri(server), name: `${alias}/state`, title: `${title}: ${alias}`, description, mimeType };
}

/**
 * A server's state as JSON: see docs/gateway/client-view.md. Includes the members of the server's own state resource, if it has one.
 */
export async function readState(server: Server, signal?: AbortSignal): Promise<TextResourceContents> {
	const own = await readOwnState(server, signal);
	const { alias, board, state, event, online, connection, lastSeen } = server;
	const content = {
		...own,
		device: alias,
		online,
		state,
		...(event && { lastEvent: { ...event, time: new Date(event.time).toISOString() } }),
		board: board.name,
		firmware: board.version,
		...(connection && { transport: connection.identity.transport }),
		lastSeen: new Date(lastSeen).toISOString(),
	};
	return { uri: stateUri(server), mimeType: MIME_TYPE, text: JSON.stringify(content) };
}

/** An online server's own state; empty if it does not answer soon. */
async function readOwnState({ online, offers, connection }: Server, signal?: AbortSignal): Promise<object> {
	if (!online || connection === undefined || !offers.resources.some(({ uri }) => uri === OWN_STATE)) {
		return {};
	}
	try {
		const request = { method: "resources/read", params: { uri: OWN_STATE } } as const;
		const result = await connection.request(request, { timeout: OWN_STATE_TIMEOUT, signal });
		const [content] = "contents" in result ? (result.contents as { text?: unknown }[]) : [];
		const state: unknown = JSON.parse(String(content?.text));
		return isObject(state) ? state : {};
	} catch {
		return {};
	}
}

const SELF = "device://self/";

/** The prefix for all other resource URIs. */
const OTHER = "on-device://";

/**
 * The URI, or template of URIs, by which clients of several devices know a resource of one of them:
 * `device://self/x` is `device://ALIAS/x`, and any other URI has `on-device://ALIAS/` in front. So URIs are unique.
 */
export function clientUri(uri: string, alias: string): string {
	return uri.startsWith(SELF) ? `device://${alias}/${uri.slice(SELF.length)}` : `${OTHER}${alias}/${uri}`;
}

/** The server and its own URI of a {@link clientUri}; undefined for any other URI. */
export function parseClientUri(uri: string): { readonly alias: string; readonly uri: string } | undefined {
	const [, scheme, alias = "", rest = ""] = /^(device|on-device):\/\/([^/]+)\/(.*)$/s.exec(uri) ?? [];
	if (scheme === undefined || (scheme === "on-device" && rest.startsWith(SELF))) {
		return undefined;
	}
	return { alias, uri: scheme === "device" ? `${SELF}${rest}` : rest };
}
