import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import { isSpecType, type JSONRPCMessage, type JSONRPCRequest, type LoggingLevel } from "@modelcontextprotocol/server";
import { digest } from "xs-mcp-manager/core";
import * as z from "zod";
import { ANNOUNCED_LISTS, type Catalog, type CatalogChange } from "../catalog/catalog.js";
import { GatewayError } from "../gateway-error.js";
import { HEADERS } from "../http/route.js";
import { Client } from "../mcp/client.js";
import { type Channel, isMessage } from "../mcp/client-request.js";
import { COMMENT, Exchange, eventOf, type ResponseForm, readEventId, SentEvents, STREAM } from "./exchange.js";
import type { HttpEndpoint } from "./http-endpoint.js";
import type { SessionClaims } from "./session-ids.js";

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

/** The number of the stream for messages that belong to no request. */
const STANDALONE = 0;

/** Messages in a batch. */
const MAX_BATCH = 100;

/** The one revision of Streamable HTTP that has JSON-RPC batches: 2025-06-18 removed them. */
const REVISION_WITH_BATCHES = "2025-03-26";

/** The first revision in which an event may be empty: clients of older ones would parse it as JSON. */
const REVISION_OF_EMPTY_EVENTS = "2025-11-25";

/** Lists that changed are announced again on every new stream. */
const LIST_CHANGED = /\/list_changed$/;

/** The settings of a session, as they are kept. */
const KEPT_SETTINGS = z.object({
	subscriptions: z.array(z.string()),
	logLevel: z.custom<LoggingLevel>(isSpecType.LoggingLevel).optional(),
});

/** Prefix of the keys of kept settings. */
const PREFIX = "session/";

/** Sessions whose settings are kept. Beyond that, the ones that were changed longest ago are forgotten. */
const MAX_KEPT = 1_000;

/** Characters of a session's subscriptions that are kept. Those beyond end with the process. */
const MAX_CHARACTERS = 65_536;

/** Milliseconds that a client waits before it opens a lost stream again. The SDK's clients try twice: a restart may take so long. */
const RETRY = "retry: 5000\n\n";

/**
 * A client's session over Streamable HTTP, as the revisions until 2025-11-25 define it: MCP "Session Management". Streams can
 * be resumed.
 */
export class Session implements Channel, ResponseForm {
	readonly sessionId: string;
	readonly headers: OutgoingHttpHeaders;
	readonly catalog: Catalog;
	readonly holder: readonly string[];
	readonly #endpoint: HttpEndpoint;
	readonly #claims: SessionClaims;
	readonly #client: Client;
	/** Undefined until the client opens a stream. */
	#standalone: Exchange | undefined;
	readonly #events = new SentEvents();
	/** The number of the last stream. The first is above those of earlier processes, whose streams clients may try to resume. */
	#streams = Date.now();
	/** The number of the last event that was written to the standalone stream. */
	#sent = this.#events.last;
	/** Subscriptions of an earlier process that have not succeeded yet: their server may still be connecting. */
	readonly #missing = new Set<string>();
	readonly #stopFollowing: () => void;
	readonly #idleTimer: NodeJS.Timeout;
	#calls = 0;
	#isClosed = false;

	/** @param isRestored whether another process, or this one before the session was idle, has begun it */
	constructor(
		endpoint: HttpEndpoint,
		{ id, claims, holder }: { id: string; claims: SessionClaims; holder: readonly string[] },
		catalog: Catalog,
		isRestored = false,
	) {
		this.#endpoint = endpoint;
		this.#claims = claims;
		this.sessionId = id;
		this.headers = { ...HEADERS, "Mcp-Session-Id": id };
		this.holder = holder;
		this.catalog = catalog;
		this.#client = new Client(endpoint.gateway, catalog, this);
		this.#stopFollowing = catalog.onChange((change) => this.#onChange(change));
		this.#idleTimer = setTimeout(() => this.#onTimer(), endpoint.sessionIdleTimeout).unref();
		if (isRestored) {
			this.#restore();
		}
	}

	/** Whether no response is open: clients that have lost theirs do not keep the session in memory. */
	get isIdle(): boolean {
		return this.#standalone?.isLost !== false && [...this.#exchanges].every(({ isLost }) => isLost);
	}

	get client(): ConnectedClient {
		const { name, version, since } = this.#claims;
		return { principal: this.catalog.access.principal, name, version, since, calls: this.#calls };
	}

	/**
	 * Serves a request with a body.
	 *
	 * @throws GatewayError if it has another form than expected
	 */
	post(response: ServerResponse, body: unknown): void {
		this.#idleTimer.refresh();
		const isBatch = Array.isArray(body);
		const messages: unknown[] = isBatch ? body : [body];
		if (!messages.every(isMessage)) {
			throw new GatewayError("parse", "Parse error: Invalid JSON-RPC message");
		}
		const invalid = (problem: string) => new GatewayError("invalid-request", `Invalid Request: ${problem}`);
		const { revision, requests: open } = this.#client;
		if (isBatch && revision !== REVISION_WITH_BATCHES) {
			throw invalid(`${revision} has no JSON-RPC batches: send one message per request`);
		}
		if (messages.length > MAX_BATCH) {
			throw invalid(`Batch must not exceed ${MAX_BATCH} messages`);
		}
		const requests = messages.filter((each) => "method" in each && "id" in each);
		if (revision !== "" && requests.some(({ method }) => method === "initialize")) {
			throw invalid("Server already initialized");
		}
		// A response names only the id.
		const used = requests.find(({ id }, at) => open.has(id) || requests.findIndex((other) => other.id === id) !== at);
		if (used !== undefined) {
			throw invalid(`the id ${JSON.stringify(used.id)} is already in use`);
		}
		let exchange: Exchange | undefined;
		if (requests.length === 0) {
			response.writeHead(202, HEADERS).end();
		} else {
			this.#streams += 1;
			exchange = new Exchange(response, this, requests, this.#streams, isBatch);
		}
		for (const message of messages) {
			if ("method" in message && message.method === "tools/call") {
				this.#calls += 1;
				if (exchange !== undefined && this.#client.changes.size > 0 && !this.#hasStream) {
					this.#announceWithCall(exchange);
				}
			}
			this.#client.receive(message, exchange);
		}
	}

	/**
	 * Opens a stream, or resumes one.
	 *
	 * @param last the header `Last-Event-ID`; empty: the client has got no event yet
	 * @throws GatewayError if it is not known
	 */
	openStream(response: ServerResponse, last: string): void {
		this.#idleTimer.refresh();
		const from = last === "" ? { stream: STANDALONE, number: this.#sent } : readEventId(last);
		const missed = from === undefined ? "" : this.#events.after(from);
		if (from?.stream === STANDALONE) {
			this.#openStandalone(response, missed, last !== "" && this.#standalone !== undefined);
			return;
		}
		const exchange = [...this.#exchanges].find(({ stream }) => stream === from?.stream);
		if (exchange?.isStream) {
			exchange.moveTo(response, missed);
		} else if (missed !== "") {
			response.writeHead(200, { ...this.headers, ...STREAM }).end(missed);
		} else {
			throw new GatewayError("bad-request", "Bad Request: unknown Last-Event-ID");
		}
	}

	/** Sends a message that belongs to no request, if the client has a stream for it. */
	send(message: JSONRPCMessage): void {
		this.#standalone?.send(message);
	}

	/**
	 * Ends its streams, and the requests in progress.
	 *
	 * @param isEnded whether the client has ended the session. Otherwise the client may resume it later
	 */
	close(isEnded = false): void {
		if (this.#isClosed) {
			return;
		}
		this.#isClosed = true;
		clearTimeout(this.#idleTimer);
		this.#stopFollowing();
		if (isEnded) {
			this.#standalone?.interrupt();
		} else {
			// Some clients take the end of a stream for the server's wish, and open another one only after an error.
			this.#standalone?.cut();
		}
		for (const exchange of this.#exchanges) {
			exchange.interrupt(isEnded);
		}
		this.#client.close();
		this.#endpoint.forget(this);
	}

	event(stream: number, json: string, method = ""): string {
		if (stream === STANDALONE && LIST_CHANGED.test(method)) {
			return eventOf(json);
		}
		const text = this.#events.add(stream, json);
		if (stream === STANDALONE && this.#hasStream) {
			this.#sent = this.#events.last;
		}
		return text;
	}

	/**
	 * The stream of a call starts with an id from which the client may resume it. The other stream does not: no revision
	 * requires it, and some clients cannot parse an empty event.
	 */
	first(stream: number): string {
		if (stream === STANDALONE) {
			return RETRY;
		}
		return this.#client.revision >= REVISION_OF_EMPTY_EVENTS ? this.#events.empty(stream) : COMMENT;
	}

	onError(error: Error): void {
		this.#endpoint.report(error);
	}

	onClose(): void {
		if (!this.#isClosed) {
			this.#idleTimer.refresh();
		}
	}

	#onTimer(): void {
		if (this.isIdle) {
			this.close();
		} else {
			this.#idleTimer.refresh();
		}
	}

	/** The client may have missed every kind of change. */
	#restore(): void {
		for (const list of ANNOUNCED_LISTS) {
			this.#client.changes.set(list, false);
		}
		const { revision: protocolVersion, name, version, capabilities } = this.#claims;
		this.#client.initialize({ protocolVersion, capabilities, clientInfo: { name, version } });
		const { value } = this.#endpoint.store.get(settingsKey(this.sessionId)) ?? {};
		const { subscriptions = [], logLevel = this.#client.logLevel } = KEPT_SETTINGS.safeParse(value).data ?? {};
		this.#client.logLevel = logLevel;
		for (const uri of subscriptions) {
			this.#missing.add(uri);
		}
		this.#resubscribe();
	}

	/** Subscribes to what could not be subscribed to before. It is tried again with the next change of the lists. */
	#resubscribe(): void {
		for (const uri of this.#missing) {
			this.#client.subscriptions.add(uri).then(
				() => {
					this.#missing.delete(uri);
					this.#client.announce({ kind: "updated", uri });
				},
				() => {},
			);
		}
	}

	async keep({ method, params }: JSONRPCRequest): Promise<void> {
		if (method !== "logging/setLevel") {
			this.#missing.delete(`${params?.uri}`);
		}
		const { subscriptions, logLevel } = this.#client;
		let room = MAX_CHARACTERS;
		const fitting = [...subscriptions.uris, ...this.#missing].filter((uri) => {
			room -= uri.length;
			return room >= 0;
		});
		const { store, report } = this.#endpoint;
		try {
			await store.set(settingsKey(this.sessionId), { subscriptions: fitting, logLevel });
			const kept = store.list(PREFIX);
			if (kept.length > MAX_KEPT) {
				await store.delete(kept.reduce((one, other) => (other.revision < one.revision ? other : one)).key);
			}
		} catch (error) {
			report(error as Error);
		}
	}

	#openStandalone(response: ServerResponse, missed: string, isResumed: boolean): void {
		const exchange = this.#standalone ?? new Exchange(response, this);
		this.#standalone = exchange;
		exchange.moveTo(response, missed);
		this.#sent = this.#events.last;
		response.once("close", () => {
			if (exchange.isLost) {
				// The last messages may be lost.
				for (const list of this.#client.changes.keys()) {
					this.#client.changes.set(list, false);
				}
			}
		});
		for (const list of this.#client.changes.keys()) {
			this.#client.changes.set(list, true);
			this.#client.announce({ kind: list });
		}
		// A client without a stream has got no update.
		for (const uri of isResumed ? [] : this.#client.subscriptions.uris) {
			this.#client.announce({ kind: "updated", uri });
		}
	}

	/** A client without a stream learns of a changed list with its next call or stream. Other changes wait until it resumes one. */
	#onChange(change: CatalogChange): void {
		if (change.kind !== "updated") {
			this.#client.changes.set(change.kind, this.#hasStream);
			this.#resubscribe();
		}
		if (change.kind === "updated" || this.#hasStream) {
			this.#client.announce(change);
		}
	}

	/** The exchanges of requests that have no answer. */
	get #exchanges(): Set<Exchange> {
		return new Set([...this.#client.requests.values()].map(({ channel }) => channel as Exchange));
	}

	get #hasStream(): boolean {
		return this.#standalone?.isLost === false;
	}

	/**
	 * Announces changed lists with the answer to a call, for a client without a stream. The SDK's clients do not open another
	 * stream after a network outage of some seconds, and would miss all later changes.
	 */
	#announceWithCall(exchange: Exchange): void {
		for (const [list, isAnnounced] of this.#client.changes) {
			if (!isAnnounced) {
				this.#client.changes.set(list, true);
				exchange.send({ jsonrpc: "2.0", method: `notifications/${list}/list_changed` });
			}
		}
	}
}

/** The key of a session's settings. The id itself is a secret. */
export function settingsKey(id: string): string {
	return `${PREFIX}${digest(id)}`;
}
