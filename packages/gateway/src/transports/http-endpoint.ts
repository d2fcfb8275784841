import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { isInitializeRequest, type JSONRPCRequest, SUPPORTED_PROTOCOL_VERSIONS } from "@modelcontextprotocol/server";
import { LRUCache } from "lru-cache";
import { isObject } from "xs-mcp-firmware/core/text/json";
import { headerProblem, isUserOnly, MemoryStore, readClientMessage, type Store } from "xs-mcp-manager/core";
import type { Catalog } from "../catalog/catalog.js";
import { readView } from "../catalog/tool-view.js";
import { type Access, scopesOf } from "../config/access.js";
import type { Configuration } from "../config/settings.js";
import { GatewayError } from "../gateway-error.js";
import { victimFor } from "../http/fair-share.js";
import { HEADERS } from "../http/route.js";
import { Client } from "../mcp/client.js";
import { ClientRequest, readStateless } from "../mcp/client-request.js";
import type { Gateway } from "../mcp/gateway.js";
import { FileStore } from "../store/file-store.js";
import { COMMENT, Exchange, eventOf, type ResponseForm } from "./exchange.js";
import { headersProblem, repeatedHeaders } from "./request-headers.js";
import { type ConnectedClient, Session, settingsKey } from "./session.js";
import { makeSessionIds, type SessionClaims, type SessionIds } from "./session-ids.js";

/** Settings of an endpoint. Without `stateFolder`, subscriptions of clients are in memory; otherwise in its folder `sessions`. */
type EndpointSettings = Partial<
	Pick<Configuration, "sessionIdleTimeout" | "maxSessions" | "stateFolder"> & {
		/** Signs the ids of sessions, so that gateways with the same key continue them. Default: a random one. */
		readonly sessionKey: string;
		/** Returns the network address of a client. */
		readonly addressOf: (request: IncomingMessage) => string;
	}
>;

/** A request of a client that may use the gateway. */
interface AdmittedRequest {
	readonly access: Access;
	/** Alias or id, from the path /mcp/DEVICE. */
	readonly server: string | undefined;
	/** The JSON that was read; undefined if the request has no body. */
	readonly body: unknown;
	/** Makes the rejection of a call that needs other scopes; undefined if the client has no access token. */
	readonly lacksScope?: ((scope: string) => GatewayError) | undefined;
}

const MINUTES = 60_000;

/** Sessions that clients have ended, and that are remembered as such. */
const MAX_ENDED = 10_000;

/** Limit of the catalogs that are kept for one client, by URL. */
const MAX_URLS = 32;

/** Milliseconds for the answers to calls to be sent when the endpoint closes. */
const ANSWER_TIME = 1_000;

/**
 * Serves MCP over Streamable HTTP, to clients of every revision: up to 2025-11-25 in sessions, since 2026-07-28 request by
 * request.
 */
export class HttpEndpoint {
	readonly gateway: Gateway;
	readonly sessionIdleTimeout: number;
	/** Keeps subscriptions and log levels of sessions, which clients do not repeat when a session is restored. */
	readonly store: Store;
	readonly #maxSessions: number;
	/** Sessions by id; the most recently used comes last. */
	readonly #sessions = new Map<string, Session>();
	readonly #ids: SessionIds;
	readonly #addressOf: (request: IncomingMessage) => string;
	/** Ids of sessions that clients have ended. */
	readonly #ended = new LRUCache<string, true>({ max: MAX_ENDED });
	/** Catalogs by the access of a client, and the URL of its requests, which has the path and the view. */
	readonly #catalogs = new WeakMap<Access, LRUCache<string, Catalog>>();
	/** Clients without a session: those with the same token and view, on the same path, share one. By catalog. */
	readonly #stateless = new WeakMap<Catalog, Client>();
	/** Unanswered requests of clients without a session. */
	readonly #open = new Map<Exchange, ClientRequest>();
	/** Incomplete responses to calls of tools. */
	readonly #calls = new Set<ServerResponse>();
	/** The form of responses to clients without a session. */
	readonly #form: ResponseForm = {
		headers: HEADERS,
		event: (_, json) => eventOf(json),
		first: () => COMMENT,
		onClose: (exchange, isAnswered) => {
			if (!isAnswered) {
				this.#open.get(exchange)?.cancel("the client has disconnected");
			}
			this.#open.delete(exchange);
		},
		onError: (error) => this.report(error),
	};
	#stopping = false;

	constructor(gateway: Gateway, settings: EndpointSettings = {}) {
		const { sessionKey, stateFolder, sessionIdleTimeout = 30 * MINUTES, maxSessions = 1_000 } = settings;
		this.gateway = gateway;
		this.sessionIdleTimeout = sessionIdleTimeout;
		this.store = stateFolder === undefined ? new MemoryStore() : FileStore.open(join(stateFolder, "sessions"));
		this.#maxSessions = maxSessions;
		this.#ids = makeSessionIds(sessionKey);
		this.#addressOf = settings.addressOf ?? (({ socket }) => `${socket.remoteAddress}`);
	}

	/** Clients in a session, the most recently used last. Those of 2026-07-28 have none. */
	get clients(): readonly ConnectedClient[] {
		return [...this.#sessions.values()].map(({ client }) => client);
	}

	/**
	 * Serves one HTTP request. Method, Host, Origin, token and body have been checked. Rejects with {@link GatewayError} if it
	 * cannot be served.
	 */
	async handle(request: IncomingMessage, response: ServerResponse, admitted: AdmittedRequest): Promise<void> {
		if (response.closed) {
			// The client has disconnected: no event would mark the end of the request.
			return;
		}
		const { access, server } = admitted;
		const body = readClientMessage(admitted.body);
		if (this.#stopping) {
			const headers = { Connection: "close" };
			throw new GatewayError("unavailable", "The gateway is shutting down", { headers });
		}
		if (body !== undefined && (typeof body !== "object" || body === null)) {
			throw new GatewayError("invalid-request", "Invalid Request: not a JSON-RPC message");
		}
		const isCall = [body].flat().some((each) => isObject(each) && each.method === "tools/call");
		if (isCall) {
			this.#calls.add(response);
			response.on("close", () => this.#calls.delete(response));
		}
		const { url = "", method, headers } = request;
		const known = this.#catalogs.get(access) ?? new LRUCache({ max: MAX_URLS });
		this.#catalogs.set(access, known);
		let catalog = known.get(url);
		if (catalog === undefined) {
			catalog = this.gateway.catalog(access, server, readView(url.split("?")[1] ?? ""));
			known.set(url, catalog);
		}
		if (server !== undefined && access.devices?.has(server) !== false) {
			await this.gateway.whenKnown(server);
		}
		if (server !== undefined && catalog.servers.length === 0) {
			throw new GatewayError("session-not-found", `Unknown device: ${server}`);
		}
		if (admitted.lacksScope !== undefined && isCall && isObject(body)) {
			this.#checkScope(catalog, admitted.lacksScope, body.params);
		}
		if (response.closed) {
			return;
		}
		const isOfSession = this.#sessions.has(`${headers["mcp-session-id"]}`);
		const message = isOfSession ? undefined : readStateless(body, method, headers);
		if (message === undefined) {
			checkHeaders(request);
			await this.#serveInSession(request, response, catalog, body);
		} else if ("id" in message) {
			this.#serveStateless(request, response, catalog, message as JSONRPCRequest);
		} else {
			// This revision has no notifications to servers: a client cancels a request by closing its connection.
			response.writeHead(202, HEADERS).end();
		}
	}

	/** Rejects new requests. Those in progress continue. */
	stop(): void {
		this.#stopping = true;
	}

	/**
	 * Ends sessions, streams and requests in progress. Calls that have ended get their answers first. Clients may continue their
	 * sessions at the next gateway.
	 */
	async close(): Promise<void> {
		this.stop();
		const answered = Promise.all(
			[...this.#calls].map((response) => new Promise((resolve) => response.once("close", resolve))),
		);
		await Promise.race([answered, delay(ANSWER_TIME, undefined, { ref: false })]);
		for (const session of [...this.#sessions.values()]) {
			session.close();
		}
		for (const [exchange, request] of this.#open) {
			request.cancel("the gateway has stopped");
			exchange.interrupt();
		}
	}

	/** Removes a session that has ended. */
	forget(session: Session): void {
		if (this.#sessions.get(session.sessionId) === session) {
			this.#sessions.delete(session.sessionId);
		}
	}

	/** Reports a request that has failed to the operator. */
	readonly report = (error: Error): void => {
		this.gateway.servers.emit("warning", `client request: ${error.message}`);
	};

	/**
	 * Serves a request of the revisions with sessions: starts a session, or continues the one that it names. A session serves only
	 * clients with the token and path that started it: for others it does not exist.
	 */
	async #serveInSession(
		request: IncomingMessage,
		response: ServerResponse,
		catalog: Catalog,
		body: unknown,
	): Promise<void> {
		const { method, headers } = request;
		const { "mcp-session-id": id, "last-event-id": lastEvent } = headers;
		if (typeof id === "string" && method === "DELETE") {
			this.#claimsIn(id, catalog);
			this.#ended.set(id, true);
			this.#sessions.get(id)?.close(true);
			await this.store.delete(settingsKey(id)).catch(this.report);
			response.writeHead(200, HEADERS).end();
			return;
		}
		let session = this.#sessions.get(`${id}`);
		if (typeof id !== "string") {
			session = this.#openSession(request, catalog, body);
		} else if (session?.catalog.key !== catalog.key) {
			const claims = this.#claimsIn(id, catalog);
			// If it is open, the rights of the client's token have changed.
			session?.close();
			session = this.#add(id, claims, catalog, request, true);
		}
		this.#sessions.delete(session.sessionId);
		this.#sessions.set(session.sessionId, session);
		if (method === "POST") {
			session.post(response, body);
		} else {
			session.openStream(response, `${lastEvent ?? ""}`);
		}
	}

	#openSession(request: IncomingMessage, catalog: Catalog, body: unknown): Session {
		if (isInitializeRequest(body)) {
			const { id, claims } = this.#ids.make(catalog, body.params);
			return this.#add(id, claims, catalog, request);
		}
		if (request.method === "GET") {
			// Some clients ask for a stream before they start a session, and treat any other status as a failure.
			const headers = { Allow: "POST" };
			throw new GatewayError("no-stream", "No stream without a session: start with initialize", { headers });
		}
		const isInitialize = isObject(body) && body.method === "initialize";
		const problem = isInitialize
			? "initialize: expected an id, and the params protocolVersion (text), capabilities and clientInfo (objects)"
			: "missing Mcp-Session-Id header; start with initialize";
		throw new GatewayError("bad-request", `Bad Request: ${problem}`);
	}

	#claimsIn(id: string, catalog: Catalog): SessionClaims {
		const claims = this.#ended.has(id) ? undefined : this.#ids.read(id, catalog);
		if (claims === undefined) {
			throw new GatewayError("session-not-found", "Session not found: start a new one with initialize");
		}
		return claims;
	}

	/** Adds a session, which may take the place of another. */
	#add(id: string, claims: SessionClaims, catalog: Catalog, request: IncomingMessage, isRestored = false): Session {
		// From the most trustworthy fact to the least.
		const holder = [catalog.access.principal, this.#addressOf(request), claims.name];
		if (this.#sessions.size >= this.#maxSessions) {
			const victim = victimFor([...this.#sessions.values()], holder, this.#maxSessions);
			if (victim === undefined) {
				throw new GatewayError("unavailable", "Too many sessions in use", { headers: { "Retry-After": "60" } });
			}
			victim.close();
		}
		const session = new Session(this, { id, claims, holder }, catalog, isRestored);
		this.#sessions.set(id, session);
		return session;
	}

	/** Serves a request of a client of 2026-07-28. */
	#serveStateless(
		{ headers }: IncomingMessage,
		response: ServerResponse,
		catalog: Catalog,
		message: JSONRPCRequest,
	): void {
		const client = this.#stateless.get(catalog) ?? new Client(this.gateway, catalog, undefined, true);
		this.#stateless.set(catalog, client);
		const { id, method, params } = message;
		const { name } = params ?? {};
		const schema = method === "tools/call" && typeof name === "string" ? client.toolInputSchema(name) : undefined;
		let problem = headersProblem(headers, repeatedHeaders(message, client.revision, schema));
		if (problem !== undefined && headerProblem(schema) !== undefined) {
			// Clients cannot send the headers of a faulty schema.
			problem = headersProblem(headers, repeatedHeaders(message, client.revision));
		}
		if (problem !== undefined) {
			const text = `Bad Request: the request headers and body disagree: ${problem}`;
			throw new GatewayError("header-mismatch", text, { id });
		}
		const exchange = new Exchange(response, this.#form, [message]);
		const request = new ClientRequest(client, message, exchange);
		this.#open.set(exchange, request);
		void client.serve(request);
	}

	/** Throws if a tool of the client's devices is hidden from it, and names the scopes with which the client could call it. */
	#checkScope(catalog: Catalog, lacksScope: (scope: string) => GatewayError, params: unknown): void {
		const name = isObject(params) && typeof params.name === "string" ? params.name : undefined;
		if (name === undefined || (catalog.findTool(name) ?? catalog.lists.findGroup(name)) !== undefined) {
			return;
		}
		const { access, server, view } = catalog;
		const widest = this.gateway.catalog({ ...access, readOnly: false, userTools: true }, server, view);
		const found = widest.findTool(name) ?? widest.lists.findGroup(name)?.members[0];
		if (found !== undefined) {
			throw lacksScope(scopesOf({ devices: access.devices && [...access.devices], userTools: isUserOnly(found.tool) }));
		}
	}
}

/** The header `Accept` of most clients, with both types. */
const USUAL_ACCEPT = "application/json, text/event-stream";

/** Checks the headers of a request of the revisions up to 2025-11-25. */
function checkHeaders({ method, headers }: IncomingMessage): void {
	const { accept, "mcp-protocol-version": version } = headers;
	if (version !== undefined && !SUPPORTED_PROTOCOL_VERSIONS.includes(`${version}`)) {
		const supported = `supported versions: ${SUPPORTED_PROTOCOL_VERSIONS.join(", ")}`;
		throw new GatewayError("bad-request", `Bad Request: Unsupported protocol version: ${version} (${supported})`);
	}
	const isUsual =
		accept === USUAL_ACCEPT || (accepts(accept, "application/json") && accepts(accept, "text/event-stream"));
	if (method === "POST" && !isUsual) {
		const expected = "Client must accept both application/json and text/event-stream";
		throw new GatewayError("not-acceptable", `Not Acceptable: ${expected}`);
	}
	if (method === "GET" && !accepts(accept ?? "none", "text/event-stream")) {
		throw new GatewayError("not-acceptable", "Not Acceptable: Client must accept text/event-stream");
	}
}

/** Whether a header `Accept` has a media range for a type (RFC 9110 §12.5.1). Without the header, every type is accepted. */
function accepts(header = "*/*", type: string): boolean {
	const ranges = ["*/*", type.replace(/\/.*/, "/*"), type];
	return header.split(",").some((range) => ranges.includes(range.replace(/;.*/s, "").trim().toLowerCase()));
}
