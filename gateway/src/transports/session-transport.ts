import type { IncomingMessage, ServerResponse } from "node:http";
import {
	type InitializeRequestParams,
	isInitializeRequest,
	isJSONRPCNotification,
	isJSONRPCRequest,
	isJSONRPCResponse,
	type JSONRPCMessage,
	type JSONRPCNotification,
	type JSONRPCRequest,
	ProtocolErrorCode,
	type RequestId,
	SUPPORTED_PROTOCOL_VERSIONS,
	type Transport,
	type TransportSendOptions,
} from "@modelcontextprotocol/server";
import { SERVER_ERROR, SESSION_NOT_FOUND } from "xs-mcp-manager/core";
import { sendJsonRpcError as reject } from "../http/http-error.js";
import { EventLog, eventOf, readEventId } from "./event-log.js";
import { COMMENT, Exchange, type ResponseForm, STREAM, textOf } from "./exchange.js";

interface SessionTransportOptions {
	/** The session has begun. Returns its id. */
	readonly onOpened: (params: InitializeRequestParams) => string;
	/** The server has answered a request of the client with a result, which the client gets when this has settled. */
	readonly onAnswered?: (request: JSONRPCRequest) => Promise<void>;
	/** The client has opened a stream for what is not part of an answer. It replaces the one before. */
	readonly onStream: (response: ServerResponse) => void;
}

/** The stream for what is not part of an answer. */
const STANDALONE = 0;

/** Messages in a batch. */
const MAX_BATCH = 100;

/** The one revision of Streamable HTTP that has JSON-RPC batches: 2025-06-18 removed them. */
const REVISION_WITH_BATCHES = "2025-03-26";

/** The first revision in which an event may be empty: clients of older ones would parse it as JSON. */
const REVISION_OF_EMPTY_EVENTS = "2025-11-25";

/** Lists that changed are told again on every new stream. */
const LIST_CHANGED = /\/list_changed$/;

/** Milliseconds that a client waits before it opens a lost stream again. The SDK's clients try twice: a restart may take so long. */
const RETRY = "retry: 5000\n\n";

/**
 * A client's session over Streamable HTTP, as revisions up to 2025-11-25 define it. Streams can be resumed.
 */
export class SessionTransport implements Transport {
	onmessage?: (message: JSONRPCMessage) => void;
	onclose?: () => void;
	onerror?: (error: Error) => void;
	/** Undefined until the session has begun. */
	sessionId?: string;
	readonly #options: SessionTransportOptions;
	readonly #form: ResponseForm = {
		headers: () => ({ "Mcp-Session-Id": this.sessionId }),
		event: (stream, json) => this.#events.add(stream, json),
		first: (stream) => {
			// The stream of a call begins with an id from which the client may resume it. For the other stream, no revision asks for that,
			// and not every client takes an empty event for one.
			if (stream === STANDALONE) {
				return RETRY;
			}
			return this.#revision >= REVISION_OF_EMPTY_EVENTS ? this.#events.empty(stream) : COMMENT;
		},
		onError: (error) => this.onerror?.(error),
	};
	/** By the ids of requests that have no response yet. */
	readonly #exchanges = new Map<unknown, Exchange>();
	/** Undefined until the client opens a stream. */
	#standalone: Exchange | undefined;
	readonly #events = new EventLog();
	/** Numbers that no earlier process has given: a client could resume a stream of that. */
	#streams = Date.now();
	/** The number of the last event that was written to the stream for what is not part of an answer. */
	#told = this.#events.last;
	/** Requests that the gateway itself has made for the client, by id. */
	readonly #own = new Map<unknown, (message: JSONRPCMessage) => void>();
	#asked = 0;
	#versions: readonly string[] = SUPPORTED_PROTOCOL_VERSIONS;
	#revision = "";
	#closed = false;

	constructor(options: SessionTransportOptions) {
		this.#options = options;
	}

	async start(): Promise<void> {}

	setSupportedProtocolVersions(versions: string[]): void {
		this.#versions = versions;
	}

	setProtocolVersion(revision: string): void {
		this.#revision = revision;
	}

	/** Goes on with a session that another process, or this one before the session was idle, has begun. Rejects if that fails. */
	async restore(id: string, params: InitializeRequestParams): Promise<void> {
		this.sessionId = id;
		await this.ask("initialize", params);
		this.onmessage?.({ jsonrpc: "2.0", method: "notifications/initialized" });
	}

	/** Makes a request in the client's place. Rejects with the server's error. */
	ask(method: string, params: Record<string, unknown>): Promise<void> {
		return new Promise((resolve, reject) => {
			this.#asked += 1;
			const id = `xs-mcp/${this.#asked}`;
			this.#own.set(id, (message) => {
				this.#own.delete(id);
				"error" in message ? reject(new Error(message.error.message)) : resolve();
			});
			this.onmessage?.({ jsonrpc: "2.0", id, method, params });
		});
	}

	/** Serves a client's request. Host, Origin, token, content type and session id have been checked. */
	async handle(request: IncomingMessage, response: ServerResponse, body: unknown): Promise<void> {
		const { "mcp-protocol-version": version } = request.headers;
		if (this.#closed) {
			reject(response, 404, SESSION_NOT_FOUND, "Session not found");
		} else if (version !== undefined && !this.#versions.includes(`${version}`)) {
			const supported = `supported versions: ${this.#versions.join(", ")}`;
			reject(response, 400, SERVER_ERROR, `Bad Request: Unsupported protocol version: ${version} (${supported})`);
		} else if (request.method === "POST") {
			this.#post(request, response, body);
		} else if (request.method === "GET") {
			this.#openStream(request, response);
		} else {
			await this.close(true);
			response.writeHead(200).end();
		}
	}

	async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
		const isResponse = "result" in message || "error" in message;
		const id = isResponse ? message.id : options?.relatedRequestId;
		const own = isResponse ? this.#own.get(id) : undefined;
		if (own !== undefined) {
			own(message);
			return;
		}
		const exchange = id === undefined ? this.#standalone : this.#exchanges.get(id);
		if (exchange === undefined) {
			if (id === undefined) {
				// The client has never opened a stream.
				return;
			}
			throw new Error(`the request ${JSON.stringify(id)} is no longer in progress`);
		}
		const request = "result" in message ? exchange.pending.get(id as RequestId) : undefined;
		if (request !== undefined) {
			await this.#options.onAnswered?.(request);
			if (this.#closed) {
				return;
			}
		}
		if (isResponse) {
			this.#exchanges.delete(id);
			exchange.answer(id as RequestId, textOf(message));
		} else {
			this.#notify(exchange, message as JSONRPCRequest | JSONRPCNotification);
		}
	}

	/**
	 * Ends its streams, and the requests in progress.
	 *
	 * @param isEnded whether the client has ended the session. Else it may go on with it later
	 */
	async close(isEnded = false): Promise<void> {
		if (this.#closed) {
			return;
		}
		this.#closed = true;
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
	}

	#post({ headers }: IncomingMessage, response: ServerResponse, body: unknown): void {
		const { accept } = headers;
		if (!accepts(accept, "application/json") || !accepts(accept, "text/event-stream")) {
			const expected = "Client must accept both application/json and text/event-stream";
			reject(response, 406, SERVER_ERROR, `Not Acceptable: ${expected}`);
			return;
		}
		const messages: unknown[] = Array.isArray(body) ? body : [body];
		const requests = messages.filter((message): message is JSONRPCRequest => isJSONRPCRequest(message));
		if (requests.length < messages.length && !messages.every(isMessage)) {
			reject(response, 400, ProtocolErrorCode.ParseError, "Parse error: Invalid JSON-RPC message");
			return;
		}
		const problem = this.#problemOf(body, requests);
		if (problem !== undefined) {
			reject(response, 400, ProtocolErrorCode.InvalidRequest, `Invalid Request: ${problem}`);
			return;
		}
		this.sessionId ??= this.#options.onOpened((requests[0] as JSONRPCRequest).params as InitializeRequestParams);
		if (requests.length === 0) {
			response.writeHead(202).end();
		} else {
			this.#begin(response, requests, Array.isArray(body));
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
		if (this.sessionId === undefined) {
			return isInitializeRequest(body) ? undefined : "Server not initialized";
		}
		if (Array.isArray(body) && this.#revision !== REVISION_WITH_BATCHES) {
			return `${this.#revision} has no JSON-RPC batches: send one message per request`;
		}
		if (Array.isArray(body) && body.length > MAX_BATCH) {
			return `Batch must not exceed ${MAX_BATCH} messages`;
		}
		if (requests.some(({ method }) => method === "initialize")) {
			return "Server already initialized";
		}
		const used = requests.find(
			({ id }, at) => this.#exchanges.has(id) || requests.findIndex((other) => other.id === id) !== at,
		);
		return used && `the id ${JSON.stringify(used.id)} is already in use`;
	}

	#begin(response: ServerResponse, requests: readonly JSONRPCRequest[], isBatch: boolean): void {
		this.#streams += 1;
		const byId = requests.map((request) => [request.id, request] as const);
		const exchange = new Exchange(response, this.#form, { stream: this.#streams, requests: byId, isBatch });
		for (const { id } of requests) {
			this.#exchanges.set(id, exchange);
		}
	}

	#openStream({ headers }: IncomingMessage, response: ServerResponse): void {
		const { accept = "none", "last-event-id": last = "" } = headers;
		if (!accepts(accept, "text/event-stream")) {
			reject(response, 406, SERVER_ERROR, "Not Acceptable: Client must accept text/event-stream");
			return;
		}
		const from = last === "" ? undefined : readEventId(`${last}`);
		// A client without an id has got no event yet.
		const after = last === "" ? { stream: STANDALONE, number: this.#told } : from;
		const missed = (after && this.#events.after(after)) ?? "";
		if (last === "" || from?.stream === STANDALONE) {
			this.#standalone ??= new Exchange(response, this.#form, { stream: STANDALONE });
			this.#standalone.moveTo(response, missed);
			this.#told = this.#events.last;
			this.#options.onStream(response);
			return;
		}
		const exchange = [...this.#exchanges.values()].find(({ stream }) => stream === from?.stream);
		if (exchange?.isStream) {
			exchange.moveTo(response, missed);
		} else if (missed !== "") {
			response.writeHead(200, { ...STREAM, ...this.#form.headers() }).end(missed);
		} else {
			reject(response, 400, SERVER_ERROR, "Bad Request: unknown Last-Event-ID");
		}
	}

	/** Beyond its limit, a notification of a call is dropped, and the stream for the rest is cut: the client may resume it. */
	#notify(exchange: Exchange, message: JSONRPCRequest | JSONRPCNotification): void {
		const isStandalone = exchange.stream === STANDALONE;
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
}

/** Whether a header `Accept` has a media range for a type (RFC 9110 §12.5.1). Without the header, every type is accepted. */
function accepts(header = "*/*", type: string): boolean {
	const ranges = ["*/*", type.replace(/\/.*/, "/*"), type];
	return header.split(",").some((range) => ranges.includes(range.replace(/;.*/s, "").trim().toLowerCase()));
}

function isMessage(value: unknown): value is JSONRPCMessage {
	return isJSONRPCRequest(value) || isJSONRPCNotification(value) || isJSONRPCResponse(value);
}
