import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { getRequestListener } from "@hono/node-server";
import {
	classifyInboundRequest,
	createMcpHandler,
	InMemoryServerEventBus,
	type McpHttpHandler,
	type McpRequestContext,
	PROTOCOL_VERSION_META_KEY,
	ProtocolErrorCode,
} from "@modelcontextprotocol/server";
import { isUserOnly, REVISION_OF_STATELESS, SERVER_ERROR, SESSION_NOT_FOUND } from "xs-mcp-manager/core";
import type { Catalog, CatalogChange } from "../catalog/catalog.js";
import { followListened } from "../catalog/follow.js";
import { stateUri } from "../catalog/state-resource.js";
import { type ToolView, viewInUrl } from "../catalog/tool-view.js";
import type { Access } from "../config/access.js";
import { scopesOf } from "../config/scopes.js";
import { isObject } from "../firmware.js";
import { HttpError } from "../http/http-error.js";
import { sendJsonRpcError } from "../http/json-rpc-error.js";
import { StreamLimit } from "../http/stream-limit.js";
import type { ClientServerOptions } from "../mcp/client-server.js";
import type { Gateway } from "../mcp/gateway.js";
import { ownerOf } from "../mcp/tasks.js";
import { RequestServer } from "./direct-answer.js";
import { type ConnectedClient, HttpSessions, type HttpSessionsOptions, type SessionClient } from "./http-sessions.js";
import { rejectTaskListen, streamTasks, taskListenOf } from "./task-stream.js";

export interface HttpEndpointOptions extends HttpSessionsOptions, Pick<ClientServerOptions, "listTtl"> {}

/** A request of a client that may use the gateway. */
interface AdmittedRequest {
	readonly access: Access;
	/** Alias or id, from the path /mcp/DEVICE. */
	readonly server: string | undefined;
	/** The JSON that was read; undefined if the request has no body. */
	readonly body: unknown;
	/** Makes the rejection of a call that needs other scopes; undefined if the client has no access token. */
	readonly lacksScope?: ((scope: string) => HttpError) | undefined;
}

/** A request of 2026-07-28: who sent it, and where its answer goes. */
interface RequestOf {
	readonly client: ClientServerOptions;
	readonly response: ServerResponse;
}

/** Handler for clients of 2026-07-28 that see the same catalog. */
interface StatelessHandler {
	readonly handler: McpHttpHandler;
	/** Whether a client listens for changes. */
	readonly hasListeners: () => boolean;
	readonly stopFollowing: () => void;
}

/** Milliseconds for the answers to calls to be sent when the endpoint closes. */
const ANSWER_TIME = 1_000;

/** Catalogs for which a handler is kept; more only while clients listen for their changes. */
const MAX_HANDLERS = 1_000;

/**
 * Serves MCP over Streamable HTTP, to clients of every revision: up to 2025-11-25 in sessions, since 2026-07-28 request by
 * request.
 */
export class HttpEndpoint {
	readonly #gateway: Gateway;
	readonly #listTtl: Pick<HttpEndpointOptions, "listTtl">;
	readonly #sessions: HttpSessions;
	/** By the key of their catalog. */
	readonly #stateless = new Map<string, StatelessHandler>();
	readonly #requests = new WeakMap<Request, RequestOf>();
	readonly #taskStreams = new StreamLimit("streams of tasks");
	/** Responses to calls of tools that are not complete. */
	readonly #calls = new Set<ServerResponse>();
	#stopping = false;

	constructor(gateway: Gateway, options: HttpEndpointOptions = {}) {
		this.#gateway = gateway;
		// Callers hand in their whole configuration, which is not to be copied for each request.
		const { listTtl } = options;
		this.#listTtl = listTtl === undefined ? {} : { listTtl };
		this.#sessions = new HttpSessions(options, (error) => this.#report(error));
	}

	/** Sessions that are open. */
	get sessions(): number {
		return this.#sessions.size;
	}

	/** Clients that are in a session. Those of 2026-07-28 have none. */
	get clients(): readonly ConnectedClient[] {
		return this.#sessions.clients;
	}

	/**
	 * Serves one HTTP request. Method, Host, Origin, token and body have been checked. Rejects with {@link HttpError} if the
	 * client's access token lacks a scope for the call.
	 */
	async handle(request: IncomingMessage, response: ServerResponse, admitted: AdmittedRequest): Promise<void> {
		const { access, server, body, lacksScope } = admitted;
		if (response.closed) {
			// The client has disconnected: nothing would tell when the request has ended.
			return;
		}
		try {
			if (this.#stopping) {
				response.setHeader("Connection", "close");
				sendJsonRpcError(response, 503, SERVER_ERROR, "The gateway is shutting down");
				return;
			}
			if ([body].flat().some((message) => isRequest(message, "tools/call"))) {
				this.#calls.add(response);
				response.once("close", () => this.#calls.delete(response));
			}
			const { view, problem } = viewInUrl(request.url ?? "");
			if (problem !== undefined) {
				sendJsonRpcError(response, 400, ProtocolErrorCode.InvalidParams, problem);
				return;
			}
			if (server !== undefined && access.devices?.has(server) !== false) {
				await this.#gateway.whenKnown(server);
			}
			const catalog = this.#gateway.catalog(access, server, view);
			if (server !== undefined && !catalog.hasServer) {
				sendJsonRpcError(response, 404, SESSION_NOT_FOUND, `Unknown device: ${server}`);
				return;
			}
			const scope = lacksScope && this.#lackingScope(catalog, admitted, view);
			if (lacksScope && scope !== undefined) {
				throw lacksScope(scope);
			}
			const { requestStates, updates, events, tasks } = this.#gateway;
			// A token for some devices does not reach configured servers, nor learn of their problems.
			const whenKnown = access.devices === undefined ? this.#gateway.whenKnown : undefined;
			const { principal, holder, address } = access;
			const shared = { ...this.#listTtl, catalog, requestStates, updates, events, tasks, whenKnown };
			const client = { ...shared, principal, holder, address, server };
			await this.#serve(request, response, client, body);
		} catch (error) {
			if (error instanceof HttpError) {
				throw error;
			}
			this.#report(error as Error);
			if (!response.headersSent) {
				sendJsonRpcError(response, 500, ProtocolErrorCode.InternalError, "Internal server error");
			}
		}
	}

	/** Rejects requests from now on. The ones that are being served go on. */
	stop(): void {
		this.#stopping = true;
	}

	/** Ends sessions, streams and requests in progress. Calls that have ended get their answers first. */
	async close(): Promise<void> {
		this.stop();
		const answered = Promise.all(
			[...this.#calls].map((response) => new Promise((resolve) => response.once("close", resolve))),
		);
		await Promise.race([answered, delay(ANSWER_TIME, undefined, { ref: false })]);
		const handlers = [...this.#stateless.values()];
		for (const { stopFollowing } of handlers) {
			stopFollowing();
		}
		await Promise.all([this.#sessions.close(), ...handlers.map(({ handler }) => handler.close())]);
	}

	async #serve(request: IncomingMessage, response: ServerResponse, client: SessionClient, body: unknown) {
		const { "mcp-session-id": id } = request.headers;
		if ((id !== undefined && this.#sessions.has(`${id}`)) || isSessionRequest(request, body)) {
			await this.#sessions.handle(request, response, client, body);
		} else {
			if (isRequest(body, "subscriptions/listen")) {
				if (this.#listenToTasks(response, client, body)) {
					return;
				}
				const warn = (problem: string): void => this.#report(new Error(problem));
				response.once("close", followListened(client.catalog, body, warn));
			}
			const { handler } = this.#statelessHandler(client);
			const listener = listenerFor((webRequest) => {
				this.#requests.set(webRequest, { client, response });
				return handler.fetch(webRequest, { parsedBody: body });
			});
			// It does not settle if the answer went to the response directly.
			listener(request, response).catch((error: Error) => this.#report(error));
		}
	}

	/** @returns whether it was a request to follow tasks that is answered */
	#listenToTasks(response: ServerResponse, { catalog, tasks, holder }: SessionClient, body: unknown): boolean {
		const listen = tasks && taskListenOf(body);
		if (listen !== undefined && !listen.knowsTasks) {
			rejectTaskListen(listen, response);
			return true;
		}
		if (tasks === undefined || !listen?.isAlone) {
			return false;
		}
		const client = { holder, access: catalog.access, server: catalog.server };
		this.#taskStreams.add(ownerOf(client), response);
		streamTasks(listen, response, tasks, client);
		return true;
	}

	/**
	 * The scopes with which a client could call the tool that it names, if a tool of its devices is hidden from it.
	 *
	 * @returns undefined if the call needs no more than the client has, or names no tool
	 */
	#lackingScope(catalog: Catalog, { access, server, body }: AdmittedRequest, view: Partial<ToolView> = {}) {
		const name = isRequest(body, "tools/call") && isObject(body.params) ? body.params.name : undefined;
		if (typeof name !== "string" || (catalog.findTool(name) ?? catalog.findGroup(name)) !== undefined) {
			return undefined;
		}
		const widest = this.#gateway.catalog({ ...access, readOnly: false, userTools: true }, server, view);
		const found = widest.findTool(name) ?? widest.findGroup(name)?.members[0];
		return found && scopesOf({ devices: access.devices && [...access.devices], userTools: isUserOnly(found.tool) });
	}

	#statelessHandler(client: ClientServerOptions): StatelessHandler {
		const { key } = client.catalog;
		let found = this.#stateless.get(key);
		if (found === undefined) {
			found = this.#createHandler(client.catalog);
			this.#stateless.set(key, found);
			this.#makeRoom();
		}
		return found;
	}

	#createHandler(catalog: Catalog): StatelessHandler {
		const onerror = (error: Error): void => this.#report(error);
		const bus = new InMemoryServerEventBus(onerror);
		const create = ({ requestInfo }: McpRequestContext): RequestServer => {
			const { client, response } = this.#requests.get(requestInfo as Request) as RequestOf;
			return new RequestServer(client, response);
		};
		const handler = createMcpHandler(create, { legacy: "reject", bus, onerror });
		return {
			handler,
			hasListeners: () => bus.listenerCount > 0,
			stopFollowing: catalog.onChange((change) => publish(bus, change)),
		};
	}

	#makeRoom(): void {
		for (const [key, { hasListeners, stopFollowing }] of this.#stateless) {
			if (this.#stateless.size <= MAX_HANDLERS) {
				return;
			}
			if (!hasListeners()) {
				stopFollowing();
				this.#stateless.delete(key);
			}
		}
	}

	#report(error: Error): void {
		this.#gateway.servers.emit("warning", `client request: ${error.message}`);
	}
}

/** Not the SDK's toNodeHandler: that copies headers and body, and makes web objects that few requests need. */
function listenerFor(fetch: Parameters<typeof getRequestListener>[0]): ReturnType<typeof getRequestListener> {
	return getRequestListener(fetch, { overrideGlobalObjects: false, autoCleanupIncoming: false });
}

function isRequest(message: unknown, method: string): message is { readonly params?: unknown } {
	return isObject(message) && message.method === method;
}

/** Hands a change to the SDK's `subscriptions/listen` streams. */
function publish(bus: InMemoryServerEventBus, change: CatalogChange): void {
	if (change.kind === "state") {
		bus.publish({ kind: "resource_updated", uri: stateUri(change.server) });
	} else if (change.kind === "updated") {
		bus.publish({ kind: "resource_updated", uri: change.uri });
	} else {
		bus.publish({ kind: `${change.kind}_list_changed` });
	}
}

/** Whether a request is one of the revisions up to 2025-11-25, which the SDK tells by what it carries. */
function isSessionRequest({ method = "", headers }: IncomingMessage, body: unknown): boolean {
	const version = headers["mcp-protocol-version"];
	if (version === REVISION_OF_STATELESS && claimedRevision(body) === version) {
		// The SDK's handler classifies it anyway, which costs more than all other checks.
		return false;
	}
	const inbound = {
		httpMethod: method,
		protocolVersionHeader: version,
		mcpMethodHeader: headers["mcp-method"],
		mcpNameHeader: headers["mcp-name"],
		body,
	};
	return classifyInboundRequest(inbound as Parameters<typeof classifyInboundRequest>[0]).kind === "legacy";
}

/** The revision that a request of 2026-07-28 or later names in its body. */
function claimedRevision(body: unknown): unknown {
	const params = isObject(body) && body.params;
	return isObject(params) && isObject(params._meta) ? params._meta[PROTOCOL_VERSION_META_KEY] : undefined;
}
