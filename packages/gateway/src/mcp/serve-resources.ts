import { isInputRequiredResult, ProtocolError, ProtocolErrorCode, specTypeSchemas } from "@modelcontextprotocol/server";
import { type Skill, skillEntry } from "@modelcontextprotocol/server/ext/skills";
import * as z from "zod";
import type { Catalog } from "../catalog/catalog.js";
import { readPanel } from "../catalog/device-panel.js";
import { SKILL_NAME, skillText } from "../catalog/skill-text.js";
import { readState } from "../catalog/state-resource.js";
import type { Client } from "./client.js";
import { type ClientRequest, type Method, method } from "./client-request.js";
import { requestError, saysNotFound } from "./failures.js";
import { follow } from "./serve-listen.js";

/** Resources that one client may subscribe to. */
const MAX_SUBSCRIPTIONS = 10_000;

/** The methods of resources. */
export const RESOURCE_METHODS: Readonly<Record<string, Method>> = {
	"resources/list": method(specTypeSchemas.PaginatedRequestParams, (params, { client }) => {
		const { items, next } = client.page(client.catalog.resources, ({ uri }) => uri, { list: "resources", params });
		return { resources: items, ...next };
	}),
	"resources/templates/list": method(specTypeSchemas.PaginatedRequestParams, (params, { client }) => {
		const { items, next } = client.page(client.catalog.resourceTemplates, (each) => each.uriTemplate, { params });
		return { resourceTemplates: items, ...next };
	}),
	"resources/read": method(specTypeSchemas.ReadResourceRequestParams, ({ uri }, request) => read(uri, request)),
	"resources/subscribe": method(
		specTypeSchemas.SubscribeRequestParams,
		async ({ uri }, { client }) => {
			await client.subscriptions.add(uri);
			return {};
		},
		"session",
	),
	"resources/unsubscribe": method(
		specTypeSchemas.SubscribeRequestParams,
		({ uri }, { client }) => {
			client.subscriptions.remove(uri);
			return {};
		},
		"session",
	),
};

async function read(uri: string, request: ClientRequest): Promise<object> {
	const { client, signal } = request;
	const { catalog } = client;
	const stateOf = catalog.findState(uri);
	if (stateOf !== undefined) {
		return { contents: [await readState(stateOf, signal)] };
	}
	const { panel } = client.gateway;
	const own = (panel && readPanel(catalog, panel, uri)) || readSkill(catalog, uri);
	if (own) {
		return { contents: [own] };
	}
	const found = catalog.findResource(uri);
	if (found === undefined) {
		throw notFound(uri);
	}
	const { server } = found;
	try {
		const made = { method: "resources/read", params: { uri: found.uri } } as const;
		const result = await client.gateway.asking.request(request, server, made);
		return isInputRequiredResult(result)
			? result
			: { contents: result.contents.map((each) => ({ ...each, uri: catalog.clientUri(server, each.uri) })) };
	} catch (error) {
		throw saysNotFound(error) ? notFound(uri) : requestError(error, server, client.revision);
	}
}

/** The resources that a client follows in its session. */
export type ClientSubscriptions = ReturnType<typeof makeSubscriptions>;

/** Makes the subscriptions of a client, of which there are none yet. */
export function makeSubscriptions(client: Client) {
	/** Functions that end the subscriptions, by URI. */
	const ends = new Map<string, () => void>();
	let closed = false;

	const has = (uri: string): boolean => ends.has(uri);
	const remove = (uri: string): void => {
		ends.get(uri)?.();
		ends.delete(uri);
	};
	return {
		get uris(): readonly string[] {
			return [...ends.keys()];
		},
		has,
		/** Subscribes to a resource. Rejects with ProtocolError. */
		async add(uri: string): Promise<void> {
			const { catalog, revision } = client;
			if (has(uri)) {
				return;
			}
			if (ends.size >= MAX_SUBSCRIPTIONS) {
				throw new ProtocolError(ProtocolErrorCode.InvalidParams, `too many subscriptions (limit ${MAX_SUBSCRIPTIONS})`);
			}
			const end = await follow(catalog, uri).catch((error: unknown) => {
				const server = catalog.findResource(uri)?.server;
				throw saysNotFound(error) || server === undefined ? notFound(uri) : requestError(error, server, revision);
			});
			if (end === undefined) {
				throw notFound(uri);
			}
			if (closed || has(uri)) {
				// Meanwhile the client has disconnected, or subscribed once more.
				end();
			} else {
				ends.set(uri, end);
			}
		},
		remove,
		/** Ends all: the client has disconnected. */
		close(): void {
			closed = true;
			[...ends.keys()].forEach(remove);
		},
	};
}

/** A resource that does not exist: {@link errorFor} makes the code that of the client's revision. */
function notFound(uri: string): ProtocolError {
	return new ProtocolError(ProtocolErrorCode.InvalidParams, `Resource not found: ${uri}`, { uri });
}

/** The extension of SEP-2640. */
export const SKILLS_EXTENSION = "io.modelcontextprotocol/skills";

const SKILL_PATH = `xs-mcp/${SKILL_NAME}`;

/** The only skill, and its only file. */
const SKILL_URI = `skill://${SKILL_PATH}/SKILL.md`;

const LIST = z.looseObject({ cursor: z.string().optional() });
const GET = z.looseObject({ uri: z.string().max(2_048) });

/** The methods of SEP-2640. */
export const SKILL_METHODS: Readonly<Record<string, Method>> = {
	"skills/list": method(LIST, async ({ cursor }, { client }) => {
		if (cursor !== undefined && cursor !== "") {
			throw new ProtocolError(ProtocolErrorCode.InvalidParams, "cursor: the list has one page");
		}
		return { skills: [await entryOf(client.catalog)], ...client.caching };
	}),
	"skills/get": method(GET, async ({ uri }, { client }) => {
		if (uri !== SKILL_URI) {
			throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Skill not found: ${uri}`, { uri });
		}
		return { skill: await entryOf(client.catalog), ...client.caching };
	}),
};

/** The skill's file as a resource; undefined for other URIs. */
function readSkill(catalog: Catalog, uri: string) {
	return uri === SKILL_URI ? { uri, mimeType: "text/markdown", text: skillText(catalog) } : undefined;
}

async function entryOf(catalog: Catalog): Promise<Skill> {
	return await skillEntry(SKILL_PATH, { "SKILL.md": skillText(catalog) });
}
