import { randomUUID } from "node:crypto";
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import {
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
	/** The session has begun. */
	readonly onOpened: (id: string) => void;
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
	/** The ids of requests without a response. */
	readonly pending: Set<RequestId>;
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

/** Lists that changed are told again on every new stream. */
const LIST_CHANGED = /\/list_changed$/;

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
	#streams = STANDALONE;
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
			await this.close();
			response.writeHead(200).end();
		}
	}

	async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
		const isResponse = "result" in message || "error" in message;
		const id = isResponse ? message.id : options?.relatedRequestId;
		const exchange = id === undefined ? this.#standalone : this.#exchanges.get(id);
		if (exchange === undefined) {
			if (id === undefined) {
				// The client has never opened a stream.
				return;
			}
			throw new Error(`the request ${JSON.stringify(id)} is no longer in progress`);
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

	/** Ends the session, its streams, and the requests in progress. */
	async close(): Promise<void> {
		if (this.#closed) {
			return;
		}
		this.#closed = true;
		this.#standalone?.response.end();
		for (const { response, isStream } of new Set(this.#exchanges.values())) {
			if (isStream) {
				response.end();
			} else {
				reject(response, 404, SESSION_NOT_FOUND, "Session not found");
			}
		}
		this.#exchanges.clear();
		this.onclose?.();
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
		if (this.sessionId === undefined) {
			this.sessionId = randomUUID();
			this.#options.onOpened(this.sessionId);
		}
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

	/** What is wrong with valid messages in this session. The ids of requests must differ: a response names only the id. */
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
		for (const id of exchange.pending) {
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
		const missed = (from && this.#events.after(from)) ?? "";
		if (last === "" || from?.stream === STANDALONE) {
			this.#standalone ??= exchangeOf(STANDALONE, response);
			this.#moveTo(response, this.#standalone, missed);
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
		} else if (isStream || !response.destroyed) {
			this.#write(exchange, this.#events.add(stream, text));
		}
	}

	/** What has been written before the client reads it is lost with the connection. */
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

	/** Begins a stream with an id from which the client may resume it. */
	#firstEvent({ stream }: Exchange): string {
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
	const pending = new Set(requests.map(({ id }) => id));
	return { stream, response, isStream: false, pending, isBatch: false, responses: [] };
}

function isMessage(value: unknown): value is JSONRPCMessage {
	return isJSONRPCRequest(value) || isJSONRPCNotification(value) || isJSONRPCResponse(value);
}
