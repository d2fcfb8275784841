import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import {
	isJSONRPCNotification,
	isJSONRPCRequest,
	isJSONRPCResponse,
	type JSONRPCMessage,
	type JSONRPCNotification,
	type JSONRPCRequest,
	ProtocolErrorCode,
	type RequestId,
	type ServerContext,
	type Transport,
	type TransportSendOptions,
} from "@modelcontextprotocol/server";
import { SERVER_ERROR, SESSION_NOT_FOUND, type Store } from "xs-mcp-manager/core";
import * as z from "zod";
import type { Catalog, CatalogChange, ListName } from "../catalog/catalog.js";
import { digest } from "../config/digest.js";
import { RpcRejection } from "../http/http-error.js";
import { ClientServer } from "../mcp/client-server.js";
import type { Gateway } from "../mcp/gateway.js";
import { COMMENT, EventLog, Exchange, eventOf, type ResponseForm, readEventId, STREAM, textOf } from "./exchange.js";
import type { SessionClaims } from "./sessions.js";

/** A client in a session, for the operator. */
export interface ConnectedClient {
	/** Its token's name, or "local". */
	readonly principal: string;
	/** Its description of itself: its host's name and version. */
	readonly name: string;
	readonly version: string;
	/** When the session began, in milliseconds since 1970. */
	readonly since: number;
	/** Calls of tools so far. */
	readonly calls: number;
}

/** What all sessions share. */
export interface SessionHost {
	readonly gateway: Gateway;
	readonly listTtl: number | undefined;
	readonly idleTimeout: number;
	/** Keeps what would not be repeated in a restored session: see {@link keyOf}. */
	readonly store: Store;
	readonly onClosed: (session: Session) => void;
	readonly onError: (error: Error) => void;
}

/** The stream for what is not part of an answer. */
const STANDALONE = 0;

/** Messages in a batch. */
const MAX_BATCH = 100;

/** The one revision of Streamable HTTP that has JSON-RPC batches: 2025-06-18 removed them. */
const REVISION_WITH_BATCHES = "2025-03-26";

/** The first revision in which an event may be empty: clients of older ones would parse it as JSON. */
const REVISION_OF_EMPTY_EVENTS = "2025-11-25";

/** Lists that changed are announced again on every new stream. */
const LIST_CHANGED = /\/list_changed$/;

/** Requests whose effect outlasts the process. */
const SETTERS: ReadonlySet<string> = new Set(["resources/subscribe", "resources/unsubscribe", "logging/setLevel"]);

/** The effect of these requests, as it is kept. */
const KEPT_SETTINGS = z.object({ subscriptions: z.array(z.string()), logLevel: z.string().optional() });

const KEPT = "session/";

/** Sessions whose settings are kept. Beyond that, the ones that were changed longest ago are forgotten. */
const MAX_KEPT = 1_000;

/** Characters of a session's subscriptions that are kept. Those beyond end with the process. */
const MAX_CHARACTERS = 65_536;

const LISTS: readonly ListName[] = ["tools", "resources", "prompts"];

/** Milliseconds that a client waits before it opens a lost stream again. The SDK's clients try twice: a restart may take so long. */
const RETRY = "retry: 5000\n\n";

/**
 * A client's session over Streamable HTTP, as the revisions until 2025-11-25 define it: MCP "Session Management". Streams can
 * be resumed.
 */
export class Session implements Transport, ResponseForm {
	onmessage?: (message: JSONRPCMessage) => void;
	onclose?: () => void;
	readonly sessionId: string;
	readonly catalog: Catalog;
	readonly holder: readonly string[];
	/** Settles when requests can be served. Rejects if the server does not accept a restored session. */
	readonly ready: Promise<void>;
	readonly #host: SessionHost;
	readonly #claims: SessionClaims;
	readonly #server: ClientServer;
	/** By the ids of requests that have no response yet. */
	readonly #exchanges = new Map<RequestId, Exchange>();
	/** Undefined until the client opens a stream. */
	#standalone: Exchange | undefined;
	readonly #events = new EventLog();
	/** Numbers that no earlier process has given: a client could resume a stream of that. */
	#streams = Date.now();
	/** The number of the last event that was written to the stream for what is not part of an answer. */
	#told = this.#events.last;
	/** Lists that have changed since the client began to read them, and whether it knows. */
	readonly #changes = new Map<ListName, boolean>();
	/** Subscriptions of an earlier process that have not succeeded yet: their server may still be connecting. */
	readonly #missing = new Set<string>();
	readonly #stopFollowing: () => void;
	readonly #idleTimer: NodeJS.Timeout;
	/** Whether the client has sent `initialize`. */
	#isInitialized: boolean;
	#calls = 0;
	/** Responses that are open. */
	#responses = 0;
	#isClosed = false;

	/** @param isRestored whether another process, or this one before the session was idle, has begun it */
	constructor(
		host: SessionHost,
		{ id, claims, holder }: { id: string; claims: SessionClaims; holder: readonly string[] },
		catalog: Catalog,
		isRestored = false,
	) {
		this.#host = host;
		this.#claims = claims;
		this.sessionId = id;
		this.holder = holder;
		this.catalog = catalog;
		this.#server = new ClientServer(host.gateway, catalog, {
			listTtl: host.listTtl,
			onListed: (list) => this.#changes.delete(list),
			onCall: (context) => this.#onCall(context),
		});
		this.#server.onerror = host.onError;
		this.#stopFollowing = catalog.onChange((change) => void this.#onChange(change));
		this.#idleTimer = setTimeout(() => this.isIdle && void this.close(), host.idleTimeout).unref();
		const connected = this.#server.connect(this);
		this.ready = isRestored ? this.#restore() : connected;
		this.#isInitialized = isRestored;
	}

	get isClosed(): boolean {
		return this.#isClosed;
	}

	/** Whether no request is in progress and no stream open. */
	get isIdle(): boolean {
		return this.#responses === 0;
	}

	get client(): ConnectedClient {
		const { name, version, since } = this.#claims;
		return { principal: this.catalog.access.principal, name, version, since, calls: this.#calls };
	}

	async start(): Promise<void> {}

	/** Serves one request that may be of this session. Throws {@link RpcRejection} if it has another form than expected. */
	serve(request: IncomingMessage, response: ServerResponse, body: unknown): void {
		if (this.#isClosed) {
			throw new RpcRejection(404, SESSION_NOT_FOUND, "Session not found");
		}
		this.#responses += 1;
		response.once("close", () => {
			this.#responses -= 1;
			if (!this.#isClosed) {
				this.#idleTimer.refresh();
			}
		});
		if (request.method === "POST") {
			this.#post(response, body);
		} else {
			this.#openStream(`${request.headers["last-event-id"] ?? ""}`, response);
		}
	}

	async send(message: JSONRPCMessage, { relatedRequestId }: TransportSendOptions = {}): Promise<void> {
		if ("method" in message) {
			const exchange = relatedRequestId === undefined ? this.#standalone : this.#exchanges.get(relatedRequestId);
			if (exchange !== undefined) {
				this.#write(exchange, message);
			} else if (relatedRequestId !== undefined) {
				throw new Error(`the request ${JSON.stringify(relatedRequestId)} is no longer in progress`);
			}
			return;
		}
		const id = message.id as RequestId;
		const exchange = this.#exchanges.get(id);
		const request = exchange?.pending.get(id);
		if (exchange === undefined || request === undefined) {
			throw new Error(`the request ${JSON.stringify(id)} is no longer in progress`);
		}
		if ("result" in message && SETTERS.has(request.method)) {
			await this.#keep(request);
		}
		if (!this.#isClosed) {
			this.#exchanges.delete(id);
			exchange.answer(id, textOf(message));
		}
	}

	/**
	 * Ends its streams, and the requests in progress.
	 *
	 * @param isEnded whether the client has ended the session. Otherwise the client may go on with it later
	 */
	async close(isEnded = false): Promise<void> {
		if (this.#isClosed) {
			return;
		}
		this.#isClosed = true;
		clearTimeout(this.#idleTimer);
		this.#stopFollowing();
		if (isEnded) {
			this.#standalone?.end();
		} else {
			// Some clients take the end of a stream for the server's wish, and open another one only after an error.
			this.#standalone?.cut();
		}
		for (const exchange of new Set(this.#exchanges.values())) {
			exchange.interrupt(isEnded);
		}
		this.#exchanges.clear();
		this.onclose?.();
		this.#host.onClosed(this);
	}

	headers(): OutgoingHttpHeaders {
		return { "Mcp-Session-Id": this.sessionId };
	}

	event(stream: number, json: string): string {
		return this.#events.add(stream, json);
	}

	/**
	 * The stream of a call begins with an id from which the client may resume it. For the other stream, no revision asks for
	 * that, and not every client takes an empty event for one.
	 */
	first(stream: number): string {
		if (stream === STANDALONE) {
			return RETRY;
		}
		return this.#server.revision >= REVISION_OF_EMPTY_EVENTS ? this.#events.empty(stream) : COMMENT;
	}

	onError(error: Error): void {
		this.#host.onError(error);
	}

	/** The client may have missed every kind of change. */
	async #restore(): Promise<void> {
		for (const list of LISTS) {
			this.#changes.set(list, false);
		}
		const { revision, name, version, capabilities } = this.#claims;
		const params = { protocolVersion: revision, capabilities, clientInfo: { name, version } };
		await this.#server.replay("initialize", params);
		const { value } = this.#host.store.get(keyOf(this.sessionId)) ?? {};
		const { subscriptions = [], logLevel } = KEPT_SETTINGS.safeParse(value).data ?? {};
		if (logLevel !== undefined) {
			await this.#server.replay("logging/setLevel", { level: logLevel }).catch(() => {});
		}
		for (const uri of subscriptions) {
			this.#missing.add(uri);
		}
		this.#resubscribe();
	}

	/** Subscribes to what could not be subscribed to before. It is tried again with the next change of the lists. */
	#resubscribe(): void {
		for (const uri of this.#missing) {
			const subscribed = this.#server.replay("resources/subscribe", { uri });
			void subscribed.then(
				() => this.#missing.delete(uri),
				() => {},
			);
		}
	}

	/** Never rejects: the session continues without. */
	async #keep({ method, params }: JSONRPCRequest): Promise<void> {
		if (method !== "logging/setLevel") {
			this.#missing.delete(`${params?.uri}`);
		}
		const { subscriptions, ...settings } = this.#server.settings;
		let room = MAX_CHARACTERS;
		const fitting = [...subscriptions, ...this.#missing].filter((uri) => {
			room -= uri.length;
			return room >= 0;
		});
		const { store, onError } = this.#host;
		try {
			await store.set(keyOf(this.sessionId), { subscriptions: fitting, ...settings });
			const kept = store.list(KEPT);
			if (kept.length > MAX_KEPT) {
				await store.delete(kept.reduce((one, other) => (other.revision < one.revision ? other : one)).key);
			}
		} catch (error) {
			onError(error as Error);
		}
	}

	#post(response: ServerResponse, body: unknown): void {
		const messages: unknown[] = Array.isArray(body) ? body : [body];
		const requests = messages.filter((message): message is JSONRPCRequest => isJSONRPCRequest(message));
		if (requests.length < messages.length && !messages.every(isMessage)) {
			throw new RpcRejection(400, ProtocolErrorCode.ParseError, "Parse error: Invalid JSON-RPC message");
		}
		const problem = this.#problemOf(body, requests);
		if (problem !== undefined) {
			throw new RpcRejection(400, ProtocolErrorCode.InvalidRequest, `Invalid Request: ${problem}`);
		}
		this.#isInitialized = true;
		if (requests.length === 0) {
			response.writeHead(202).end();
		} else {
			this.#streams += 1;
			const exchange = new Exchange(response, this, this.#streams, Array.isArray(body));
			for (const request of requests) {
				exchange.pending.set(request.id, request);
				this.#exchanges.set(request.id, exchange);
			}
		}
		for (const message of messages as JSONRPCMessage[]) {
			this.onmessage?.(message);
			if ("method" in message && message.method === "notifications/cancelled") {
				// The SDK does not answer a request that was cancelled.
				const id = message.params?.requestId as RequestId;
				this.#exchanges.get(id)?.settle(id);
				this.#exchanges.delete(id);
			}
		}
	}

	/** Checks valid messages against this session. The ids of requests must differ: a response names only the id. */
	#problemOf(body: unknown, requests: readonly JSONRPCRequest[]): string | undefined {
		const { revision } = this.#server;
		if (Array.isArray(body) && revision !== REVISION_WITH_BATCHES) {
			return `${revision} has no JSON-RPC batches: send one message per request`;
		}
		if (Array.isArray(body) && body.length > MAX_BATCH) {
			return `Batch must not exceed ${MAX_BATCH} messages`;
		}
		if (this.#isInitialized && requests.some(({ method }) => method === "initialize")) {
			return "Server already initialized";
		}
		const used = requests.find(
			({ id }, at) => this.#exchanges.has(id) || requests.findIndex((other) => other.id === id) !== at,
		);
		return used && `the id ${JSON.stringify(used.id)} is already in use`;
	}

	/** @param last the header `Last-Event-ID` */
	#openStream(last: string, response: ServerResponse): void {
		// A client without an id has got no event yet.
		const from = last === "" ? { stream: STANDALONE, number: this.#told } : readEventId(last);
		const missed = from === undefined ? "" : this.#events.after(from);
		if (from?.stream === STANDALONE) {
			this.#openStandalone(response, missed);
			return;
		}
		const exchange = [...this.#exchanges.values()].find(({ stream }) => stream === from?.stream);
		if (exchange?.isStream) {
			exchange.moveTo(response, missed);
		} else if (missed !== "") {
			response.writeHead(200, { ...STREAM, ...this.headers() }).end(missed);
		} else {
			throw new RpcRejection(400, SERVER_ERROR, "Bad Request: unknown Last-Event-ID");
		}
	}

	#openStandalone(response: ServerResponse, missed: string): void {
		const exchange = this.#standalone ?? new Exchange(response, this);
		this.#standalone = exchange;
		exchange.moveTo(response, missed);
		this.#told = this.#events.last;
		response.once("close", () => {
			if (exchange.isLost) {
				// The last messages may be lost.
				for (const list of this.#changes.keys()) {
					this.#changes.set(list, false);
				}
			}
		});
		for (const list of this.#changes.keys()) {
			void this.#announce({ kind: list });
		}
	}

	/** Beyond its limit, a notification of a call is dropped, and the stream for the rest is cut: the client may resume it. */
	#write(exchange: Exchange, message: JSONRPCRequest | JSONRPCNotification): void {
		const isStandalone = exchange === this.#standalone;
		const isNotification = !("id" in message);
		if (isNotification && exchange.isSlow) {
			if (!isStandalone) {
				return;
			}
			exchange.cut();
		}
		const text = textOf(message);
		if (isStandalone && isNotification && LIST_CHANGED.test(message.method)) {
			exchange.write(eventOf(text));
		} else if (exchange.isStream || !exchange.isLost) {
			const { isLost } = exchange;
			exchange.write(this.#events.add(exchange.stream, text));
			this.#told = isStandalone && !isLost ? this.#events.last : this.#told;
		}
	}

	/** A client without a stream is told of a changed list later. Other changes wait for one that resumes its stream. */
	async #onChange(change: CatalogChange): Promise<void> {
		const isOfList = change.kind !== "state" && change.kind !== "updated";
		if (isOfList) {
			this.#changes.set(change.kind, false);
			this.#resubscribe();
		}
		if (!isOfList || this.#hasStream) {
			await this.#announce(change);
		}
	}

	get #hasStream(): boolean {
		return this.#standalone?.isLost === false;
	}

	async #announce(change: CatalogChange): Promise<void> {
		if (change.kind !== "state" && change.kind !== "updated") {
			this.#changes.set(change.kind, true);
		}
		await this.#server.announce(change).catch(this.#host.onError);
	}

	/**
	 * Tells a client without a stream with the answer to its call: the SDK's clients do not open another stream when the
	 * network was down for more than some seconds, and would never be told of anything again.
	 */
	async #onCall({ mcpReq }: ServerContext): Promise<void> {
		this.#calls += 1;
		if (this.#hasStream) {
			return;
		}
		for (const [list, isTold] of this.#changes) {
			if (!isTold) {
				this.#changes.set(list, true);
				await mcpReq.notify({ method: `notifications/${list}/list_changed` }).catch(this.#host.onError);
			}
		}
	}
}

/** The key of a session's settings. The id itself is a secret. */
export function keyOf(id: string): string {
	return `${KEPT}${digest(id)}`;
}

function isMessage(value: unknown): value is JSONRPCMessage {
	return isJSONRPCRequest(value) || isJSONRPCNotification(value) || isJSONRPCResponse(value);
}
