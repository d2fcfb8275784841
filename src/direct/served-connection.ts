import type { TimerHandle } from "../hardware/timer.js";
import type { HttpConnection, ServedRequest, ServedResponse } from "../net/http-server.js";
import { ServedExchange } from "../net/served-exchange.js";
import { decodeText } from "../text/message-assembler.js";
import type { Sendable } from "../text/pieced-text.js";
import { utf8Length } from "../text/utf8.js";
import { WriteQueue } from "../text/write-queue.js";
import { checkRequest, type Rejection } from "./check-request.js";
import type { McpEndpoint } from "./mcp-endpoint.js";
import { CLIENT_HEADER, PostedMessage } from "./posted-message.js";

/** Milliseconds after which a connection without an accepted head may be closed for another one. */
const HEAD_TIME = 1_000;

/** Milliseconds for the whole request. */
const REQUEST_TIME = 10_000;

/** Milliseconds for a call. Nothing else detects a client that has left the network. */
const CALL_TIME = 300_000;

/** Milliseconds that sending may pause. */
const SEND_TIME = 30_000;

/** The body of a rejected request is read and dropped up to this length, so that the client reads the answer. */
const MAX_DRAINED_BYTES = 65_536;

const JSON_TYPE = "application/json";
const STREAM_TYPE = "text/event-stream";
const EVENT_START = "event: message\ndata: ";
const EVENT_END = "\n\n";

/**
 * One connection with a client, for one request. The response is JSON, or an event stream if the server sends something
 * before the answer.
 */
export class ServedConnection extends ServedExchange {
	private readonly endpoint: McpEndpoint;
	private readonly queue: WriteQueue;
	private state: "receiving" | "answering" | "sending" | "streaming" = "receiving";
	private headTimer: TimerHandle | undefined;
	/** Whether the client has had a second, and has sent nothing yet that needs an answer. */
	isSilent = false;
	private rejection: Rejection | undefined;
	private headers: ServedRequest["headers"] = new Map();
	private response: ServedResponse | undefined;
	private message: PostedMessage | undefined;
	private isLast = false;

	constructor(connection: HttpConnection, endpoint: McpEndpoint) {
		const { timer } = endpoint.app;
		super(connection, timer);
		this.endpoint = endpoint;
		this.queue = new WriteQueue(endpoint.maxQueuedBytes, 0, connection);
		this.limit(REQUEST_TIME, () => this.reject({ status: 408, reason: `no whole request in ${REQUEST_TIME} ms` }));
		this.headTimer = timer.set(() => {
			this.headTimer = undefined;
			this.isSilent = true;
			endpoint.onSilent();
		}, HEAD_TIME);
		this.accept();
	}

	/** Hands a response of the client to the call. */
	takeResponse(response: object): void {
		this.message?.takeResponse(response);
	}

	protected override onRequest(request: ServedRequest): void {
		const { headers } = request;
		const rejection = checkRequest(request, this.endpoint.rules);
		this.rejection = rejection;
		if (rejection === undefined) {
			this.heed();
			this.headers = headers;
			this.keepBody(Number(headers.get("content-length")));
		} else if (headers.has("transfer-encoding") || Number(headers.get("content-length") ?? 0) > MAX_DRAINED_BYTES) {
			// The server accepts no response within this callback.
			this.limit(0, () => this.reject(rejection));
		}
	}

	/** The connection is no longer a silent one. */
	private heed(): void {
		this.endpoint.app.timer.clear(this.headTimer);
		this.headTimer = undefined;
		this.isSilent = false;
	}

	protected override onResponse(response: ServedResponse, body: ArrayBuffer | undefined): void {
		if (this.isEnded || this.state !== "receiving") {
			return;
		}
		if (this.rejection !== undefined || body === undefined) {
			this.reject(this.rejection ?? { status: 400, reason: "no request" });
			return;
		}
		this.state = "answering";
		this.response = response;
		this.limit(CALL_TIME);
		this.message = new PostedMessage(this.endpoint, this, this.headers);
		try {
			this.message.receive(decodeText(body));
		} catch (error) {
			this.reject({ status: 400, reason: (error as Error).message });
		}
	}

	private reject({ status, reason, header }: Rejection): void {
		if (!this.isEnded && (this.state === "receiving" || this.state === "answering")) {
			this.dropBody();
			this.endpoint.app.log(`HTTP request rejected with ${status}: ${reason}`);
			this.response = { status, headers: new Map(header && [header]) };
			this.respond(status, JSON.stringify({ error: reason }));
		}
	}

	/** Takes note that no answer is due. */
	onAccepted(): void {
		this.respond(202, "");
	}

	/** Sends the answer, with its HTTP status. @param client the client's id from now on */
	onAnswer(status: number, text: Sendable, client: string | undefined): void {
		if (client !== undefined) {
			this.response?.headers.set(CLIENT_HEADER, client);
		}
		if (this.state === "streaming") {
			this.isLast = true;
			this.push(EVENT_START, text, EVENT_END);
		} else {
			this.respond(status, text);
		}
	}

	/** Sends a notification or request of the call, before its answer. */
	onEvent(text: string): void {
		if (this.isEnded) {
			return;
		}
		if (this.state === "answering") {
			this.state = "streaming";
			const headers = this.beginResponse(200);
			headers.set("content-type", STREAM_TYPE);
			headers.set("cache-control", "no-cache");
			this.connection.respond(this.response as ServedResponse);
		}
		if (this.state === "streaming" && !this.isLast) {
			this.push(EVENT_START, text, EVENT_END);
		}
	}

	private respond(status: number, text: Sendable): void {
		if (this.isEnded) {
			return;
		}
		this.state = "sending";
		this.isLast = true;
		this.limit(SEND_TIME);
		const headers = this.beginResponse(status);
		const bytes = typeof text === "string" ? utf8Length(text) : text.bytes;
		if (bytes > 0) {
			headers.set("content-type", JSON_TYPE);
			this.push(text);
		}
		headers.set("content-length", String(bytes));
		if (!this.isEnded) {
			this.connection.respond(this.response as ServedResponse);
		}
	}

	private beginResponse(status: number): Map<string, string> {
		this.response ??= { status, headers: new Map() };
		this.response.status = status;
		const { headers } = this.response;
		headers.set("connection", "close");
		return headers;
	}

	/** An answer that does not fit the queue ends the connection. */
	private push(...texts: readonly Sendable[]): void {
		for (const text of texts) {
			if (!this.isEnded && !this.queue.push(text)) {
				this.endpoint.app.log(`connection closed: response longer than ${this.endpoint.maxQueuedBytes} bytes`);
				this.close();
			}
		}
		this.endStream();
	}

	protected override onWritable(count: number): void {
		if (!this.isEnded) {
			this.limit(this.isLast ? SEND_TIME : CALL_TIME);
			this.queue.onWritable(count);
			this.endStream();
		}
	}

	/** A stream has no length, so it ends with its connection. */
	private endStream(): void {
		if (!this.isEnded && this.state === "streaming" && this.isLast && this.queue.bytes === 0) {
			this.close();
		}
	}

	/** Cancels the calls of the request. */
	protected override onEnd(): void {
		this.heed();
		this.message?.close();
		this.endpoint.onEnd(this);
	}
}
