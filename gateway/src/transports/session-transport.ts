import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import {
	type InitializeRequestParams,
	isInitializeRequest,
	isJSONRPCNotification,
	isJSONRPCRequest,
	isJSONRPCResponse,
	type JSONRPCMessage,
	type JSONRPCRequest,
	ProtocolErrorCode,
	type RequestId,
	SUPPORTED_PROTOCOL_VERSIONS,
	type Transport,
	type TransportSendOptions,
} from "@modelcontextprotocol/server";
import { SERVER_ERROR, SESSION_NOT_FOUND } from "xs-mcp-manager/core";
import { sendJsonRpcError as reject } from "../http/json-rpc-error.js";
import { EventLog, eventOf, readEventId } from "./event-log.js";
import { textOf } from "./message-text.js";

interface SessionTransportOptions {
	/** The session has begun. Returns its id. */
	readonly onOpened: (params: InitializeRequestParams) => string;
	/** The server has answered a request of the client with a result, which the client gets when this has settled. */
	readonly onAnswered?: (request: JSONRPCRequest) => Promise<void>;
	/** The client has opened a stream for what is not part of an answer. It replaces the one before. */
	readonly onStream: (response: ServerResponse) => void;
}

/** Where messages for the client go: to its HTTP response, or after that was lost to the next one. */
interface Exchange {
	/** Names it in the ids of events. */
	readonly stream: number;
	response: ServerResponse;
	/** Whether the response is a stream of events. Else what it holds is sent at its end, as JSON. */
	isStream: boolean;
	/** Requests without a response, by their ids. */
	readonly pending: Map<RequestId, JSONRPCRequest>;
	readonly isBatch: boolean;
	/** JSON of messages that were not sent yet. */
	readonly responses: string[];
}

/** The stream for what is not part of an answer. */
const STANDALONE = 0;

/** Messages in a batch. */
const MAX_BATCH = 100;

/** The one revision of Streamable HTTP that has JSON-RPC batches: 2025-06-18 removed them. */
const REVISION_WITH_BATCHES = "2025-03-26";

/** The first revision in which an event may be empty: clients of older ones would parse it as JSON. */
const REVISION_OF_EMPTY_EVENTS = "2025-11-25";

/** Milliseconds after which an answer becomes a stream, and between signs of life on a stream. */
const KEEP_ALIVE = 15_000;

/**
 * Bytes that may wait to be sent when a notification comes. Beyond that, one of a call is dropped, and the stream for the rest is
 * cut: the client may resume it. Answers have no such limit: createHttpServer cuts a client that has stopped reading.
 */
const MAX_UNSENT_BYTES = 1024 * 1024;

const INTERRUPTED = "the gateway has stopped while the request was in progress: it may have been carried out";

/** Lists that changed are told again on every new stream. */
const LIST_CHANGED = /\/list_changed$/;

/** Milliseconds that a client waits before it opens a lost stream again. The SDK's clients try twice: a restart may take so long. */
const RETRY = "retry: 5000\n\n";

/** A sign of life, which no client sees. */
const COMMENT = ": keepalive\n\n";

const STREAM = {
	"Content-Type": "text/event-stream",
	"Cache-Control": "no-cache, no-transform",
	Connection: "keep-alive",
	"X-Accel-Buffering": "no",
};

/**
 * A client's session over Streamable HTTP, as the revisions until 2025-11-25 have it. An answer is JSON, in one write; it
 * becomes a stream of events only if something precedes it, or if it takes long. Streams can be resumed.
 *
 * Not the SDK's transport: that makes every answer a web stream, and writes its headers apart.
 */
export class SessionTransport implements Transport {
	onmessage?: (message: JSONRPCMessage) => void;
	onclose?: () => void;
	onerror?: (error: Error) => void;
	/** Undefined until the session has begun. */
	sessionId?: string;
	readonly #options: SessionTransportOptions;
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
		const text = textOf(message);
		if (isResponse && !exchange.isStream) {
			exchange.responses.push(text);
		} else {
			this.#send(exchange, message, text);
		}
		if (isResponse) {
			this.#answered(exchange, id);
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
			this.#standalone?.response.end();
		} else {
			// Some clients take the end of a stream for the server's wish, and open another one only after an error.
			this.#standalone?.response.destroy();
		}
		for (const exchange of new Set(this.#exchanges.values())) {
			this.#interrupt(exchange, isEnded);
		}
		this.#exchanges.clear();
		this.onclose?.();
	}

	#interrupt(exchange: Exchange, isEnded: boolean): void {
		const { response, isStream, pending } = exchange;
		if (isStream) {
			const error = { code: SERVER_ERROR, message: INTERRUPTED };
			for (const id of pending.keys()) {
				this.#write(exchange, eventOf(JSON.stringify({ jsonrpc: "2.0", id, error })));
			}
			response.end();
		} else if (isEnded) {
			reject(response, 404, SESSION_NOT_FOUND, "Session not found");
		} else if (!response.headersSent) {
			reject(response, 503, SERVER_ERROR, INTERRUPTED);
		}
	}

	#post({ headers }: IncomingMessage, response: ServerResponse, body: unknown): void {
		const { accept = "" } = headers;
		if (!accept.includes("application/json") || !accept.includes("text/event-stream")) {
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
				const id = message.params?.requestId;
				this.#answered(this.#exchanges.get(id), id);
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
		const exchange = { ...exchangeOf(this.#streams, response, requests), isBatch };
		for (const id of exchange.pending.keys()) {
			this.#exchanges.set(id, exchange);
		}
		this.#keepAlive(exchange);
	}

	/** A request has its response, or gets none. */
	#answered(exchange: Exchange | undefined, id: unknown): void {
		this.#exchanges.delete(id);
		exchange?.pending.delete(id as RequestId);
		if (exchange === undefined || exchange.pending.size > 0 || exchange.response.destroyed) {
			return;
		}
		const { response, responses, isStream, isBatch } = exchange;
		if (isStream) {
			response.end();
		} else if (responses.length === 0) {
			response.writeHead(200, this.#withSession(STREAM)).end();
		} else {
			const text = isBatch ? `[${responses.splice(0).join(",")}]` : (responses.pop() as string);
			const length = Buffer.byteLength(text);
			response.writeHead(200, this.#withSession({ "Content-Type": "application/json", "Content-Length": length }));
			response.end(text);
		}
	}

	#openStream({ headers }: IncomingMessage, response: ServerResponse): void {
		const { accept = "", "last-event-id": last = "" } = headers;
		if (!accept.includes("text/event-stream")) {
			reject(response, 406, SERVER_ERROR, "Not Acceptable: Client must accept text/event-stream");
			return;
		}
		const from = last === "" ? undefined : readEventId(`${last}`);
		// A client without an id has got no event yet.
		const after = last === "" ? { stream: STANDALONE, number: this.#told } : from;
		const missed = (after && this.#events.after(after)) ?? "";
		if (last === "" || from?.stream === STANDALONE) {
			this.#standalone ??= exchangeOf(STANDALONE, response);
			this.#moveTo(response, this.#standalone, missed);
			this.#told = this.#events.last;
			this.#options.onStream(response);
			return;
		}
		const exchange = [...this.#exchanges.values()].find(({ stream }) => stream === from?.stream);
		if (exchange?.isStream) {
			this.#moveTo(response, exchange, missed);
		} else if (missed !== "") {
			response.writeHead(200, this.#withSession(STREAM)).end(missed);
		} else {
			reject(response, 400, SERVER_ERROR, "Bad Request: unknown Last-Event-ID");
		}
	}

	/** Has a stream go on in another response. A client that asks for that has lost the one before. */
	#moveTo(response: ServerResponse, exchange: Exchange, missed: string): void {
		if (exchange.response !== response) {
			exchange.response.destroy();
		}
		exchange.response = response;
		exchange.isStream = false;
		this.#write(exchange, missed === "" ? this.#firstEvent(exchange) : missed);
		this.#keepAlive(exchange);
	}

	#send(exchange: Exchange, message: JSONRPCMessage, text: string): void {
		const { stream, isStream, response } = exchange;
		const isNotification = "method" in message && !("id" in message);
		if (isNotification && response.writableLength > MAX_UNSENT_BYTES) {
			if (stream !== STANDALONE) {
				return;
			}
			response.destroy();
		}
		if (stream === STANDALONE && isNotification && LIST_CHANGED.test(message.method)) {
			this.#write(exchange, eventOf(text));
		} else if (stream === STANDALONE && !response.destroyed) {
			this.#write(exchange, this.#events.add(stream, text));
			this.#told = this.#events.last;
		} else if (isStream || !response.destroyed) {
			this.#write(exchange, this.#events.add(stream, text));
		}
	}

	/** Written but unread data is lost with the connection. */
	#write(exchange: Exchange, text: string): void {
		const { response, isStream, responses, stream } = exchange;
		if (response.destroyed || response.writableEnded) {
			return;
		}
		if (!isStream) {
			exchange.isStream = true;
			response.writeHead(200, this.#withSession(STREAM));
			for (const earlier of responses.splice(0)) {
				response.write(this.#events.add(stream, earlier));
			}
		}
		response.write(text);
	}

	/**
	 * Begins the stream of a call with an id from which the client may resume it. For the other stream, no revision asks for that, and
	 * not every client takes an empty event for one.
	 */
	#firstEvent({ stream }: Exchange): string {
		if (stream === STANDALONE) {
			return RETRY;
		}
		return this.#revision >= REVISION_OF_EMPTY_EVENTS ? this.#events.empty(stream) : COMMENT;
	}

	/** While something waits to be sent, the client needs no sign of life. */
	#keepAlive(exchange: Exchange): void {
		const { response } = exchange;
		const sign = (): void => {
			try {
				if (response.writableLength === 0) {
					this.#write(exchange, exchange.isStream ? COMMENT : this.#firstEvent(exchange));
				}
			} catch (error) {
				response.destroy();
				this.onerror?.(error as Error);
			}
		};
		const timer = setInterval(sign, KEEP_ALIVE).unref();
		response.once("close", () => clearInterval(timer));
	}

	#withSession(headers: OutgoingHttpHeaders): OutgoingHttpHeaders {
		return { ...headers, "Mcp-Session-Id": this.sessionId };
	}
}

function exchangeOf(stream: number, response: ServerResponse, requests: readonly JSONRPCRequest[] = []): Exchange {
	const pending = new Map(requests.map((request) => [request.id, request]));
	return { stream, response, isStream: false, pending, isBatch: false, responses: [] };
}

function isMessage(value: unknown): value is JSONRPCMessage {
	return isJSONRPCRequest(value) || isJSONRPCNotification(value) || isJSONRPCResponse(value);
}
