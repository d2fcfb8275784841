import { isInputRequiredResult, ProtocolError, ProtocolErrorCode, specTypeSchemas } from "@modelcontextprotocol/server";
import { readPanel } from "../catalog/device-panel.js";
import { readState } from "../catalog/state-resource.js";
import type { Client } from "./client.js";
import { type ClientRequest, type Method, method } from "./client-request.js";
import { requestError, saysNotFound } from "./failures.js";
import { follow } from "./serve-listen.js";
import { readSkill } from "./serve-skills.js";

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
	const own = (catalog.panel && readPanel(catalog, catalog.panel, uri)) || readSkill(catalog, uri);
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
export class ClientSubscriptions {
	readonly #client: Client;
	/** Functions that end the subscriptions, by URI. */
	readonly #ends = new Map<string, () => void>();
	#closed = false;

	constructor(client: Client) {
		this.#client = client;
	}

	get uris(): readonly string[] {
		return [...this.#ends.keys()];
	}

	has(uri: string): boolean {
		return this.#ends.has(uri);
	}

	/** Subscribes to a resource. Rejects with ProtocolError. */
	async add(uri: string): Promise<void> {
		const { catalog, revision } = this.#client;
		if (this.has(uri)) {
			return;
		}
		if (this.#ends.size >= MAX_SUBSCRIPTIONS) {
			throw new ProtocolError(ProtocolErrorCode.InvalidParams, `too many subscriptions (limit ${MAX_SUBSCRIPTIONS})`);
		}
		const end = await follow(catalog, uri).catch((error: unknown) => {
			const server = catalog.findResource(uri)?.server;
			throw saysNotFound(error) || server === undefined ? notFound(uri) : requestError(error, server, revision);
		});
		if (end === undefined) {
			throw notFound(uri);
		}
		if (this.#closed || this.has(uri)) {
			// Meanwhile the client has disconnected, or subscribed once more.
			end();
		} else {
			this.#ends.set(uri, end);
		}
	}

	remove(uri: string): void {
		this.#ends.get(uri)?.();
		this.#ends.delete(uri);
	}

	/** Ends all: the client has disconnected. */
	close(): void {
		this.#closed = true;
		for (const uri of this.uris) {
			this.remove(uri);
		}
	}
}

/** A resource that does not exist: {@link errorFor} makes the code that of the client's revision. */
function notFound(uri: string): ProtocolError {
	return new ProtocolError(ProtocolErrorCode.InvalidParams, `Resource not found: ${uri}`, { uri });
}
