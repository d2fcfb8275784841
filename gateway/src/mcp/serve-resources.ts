import {
	isInputRequiredResult,
	ProtocolError,
	ProtocolErrorCode,
	type ServerContext,
} from "@modelcontextprotocol/server";
import { readPanel } from "../catalog/device-panel.js";
import { readState } from "../catalog/state-resource.js";
import type { ClientServer } from "./client-server.js";
import { requestError, saysNotFound } from "./failures.js";
import { follow } from "./serve-listen.js";
import { readSkill } from "./serve-skills.js";

/** Resources that one client may subscribe to. */
const MAX_SUBSCRIPTIONS = 10_000;

/** Serves the resources of a client's catalog, and knows which of them the client follows in its session. */
export class ResourceService {
	readonly #client: ClientServer;
	/** Functions that end the subscriptions, by URI. */
	readonly #subscriptions = new Map<string, () => void>();
	#closed = false;

	constructor(client: ClientServer) {
		this.#client = client;
		const { catalog } = client;
		client.setRequestHandler("resources/list", ({ params }) => {
			const { items, next } = client.page(catalog.resources, ({ uri }) => uri, { list: "resources", params });
			return { resources: items, ...next };
		});
		client.setRequestHandler("resources/templates/list", ({ params }) => {
			const { items, next } = client.page(catalog.resourceTemplates, (each) => each.uriTemplate, { params });
			return { resourceTemplates: items, ...next };
		});
		client.setRequestHandler("resources/read", ({ params }, context) => this.#read(params.uri, context));
		client.setRequestHandler("resources/subscribe", async ({ params }) => {
			await this.#subscribe(params.uri);
			return {};
		});
		client.setRequestHandler("resources/unsubscribe", ({ params: { uri } }) => {
			this.#subscriptions.get(uri)?.();
			this.#subscriptions.delete(uri);
			return {};
		});
	}

	/** The URIs of the resources that the client has subscribed to. */
	get subscriptions(): readonly string[] {
		return [...this.#subscriptions.keys()];
	}

	/** Whether the client has subscribed to a resource, in its session. */
	follows(uri: string): boolean {
		return this.#subscriptions.has(uri);
	}

	/** The client has disconnected: its subscriptions end. */
	close(): void {
		this.#closed = true;
		for (const end of this.#subscriptions.values()) {
			end();
		}
		this.#subscriptions.clear();
	}

	async #read(uri: string, context: ServerContext) {
		const client = this.#client;
		const { catalog } = client;
		const stateOf = catalog.findState(uri);
		if (stateOf !== undefined) {
			return { contents: [await readState(stateOf, context.mcpReq.signal)] };
		}
		const panel = catalog.panel && readPanel(catalog, catalog.panel, uri);
		if (panel) {
			return { contents: [panel] };
		}
		const skill = readSkill(catalog, uri);
		if (skill !== undefined) {
			return { contents: [skill] };
		}
		const found = catalog.findResource(uri);
		if (found === undefined) {
			throw notFound(uri);
		}
		const { server } = found;
		try {
			const result = await client.forward(context, server, found.uri, (options) =>
				server.request({ method: "resources/read", params: { uri: found.uri } }, options),
			);
			return isInputRequiredResult(result)
				? result
				: {
						...result,
						contents: result.contents.map((each) => ({ ...each, uri: catalog.clientUri(server, each.uri) })),
					};
		} catch (error) {
			throw saysNotFound(error) ? notFound(uri) : requestError(error, server, client.revision);
		}
	}

	async #subscribe(uri: string): Promise<void> {
		if (this.#subscriptions.has(uri)) {
			return;
		}
		if (this.#subscriptions.size >= MAX_SUBSCRIPTIONS) {
			throw new ProtocolError(ProtocolErrorCode.InvalidParams, `too many subscriptions (limit ${MAX_SUBSCRIPTIONS})`);
		}
		const end = await follow(this.#client.catalog, uri).catch((error: unknown) => {
			const server = this.#client.catalog.findResource(uri)?.server;
			throw saysNotFound(error) || server === undefined
				? notFound(uri)
				: requestError(error, server, this.#client.revision);
		});
		if (end === undefined) {
			throw notFound(uri);
		}
		if (this.#closed || this.#subscriptions.has(uri)) {
			// Meanwhile the client has disconnected, or subscribed once more.
			end();
		} else {
			this.#subscriptions.set(uri, end);
		}
	}
}

/** A resource that does not exist: {@link codeForRevision} makes the code the one of the client's revision. */
function notFound(uri: string): ProtocolError {
	return new ProtocolError(ProtocolErrorCode.InvalidParams, `Resource not found: ${uri}`, { uri });
}
