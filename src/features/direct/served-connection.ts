import { isObject, type Sendable } from "../../core/text/json.js";
import { decodeText } from "../../core/text/message-assembler.js";
import type { Hardware, TimerHandle } from "../../hardware/hardware.js";
import {
	ErrorCode,
	errorMessage,
	isRequestId,
	NO_WRAPPER,
	parseMessage,
	REVISIONS,
	type Revision,
	RpcError,
	unreadableId,
} from "../../mcp_server/json-rpc.js";
import type { McpSession } from "../../mcp_server/mcp-session.js";
import type { HttpConnection, ServedRequest, ServedResponse } from "../../protocols/http-server.js";
import { ServedExchange } from "../../protocols/served-exchange.js";
import { checkRequest, type Rejection } from "./check-request.js";
import type { McpEndpoint } from "./mcp-endpoint.js";
import { checkHeaders, isStateless } from "./stateless-headers.js";

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

/** Header that identifies a client. */
const CLIENT_HEADER = "mcp-session-id";

/** Bytes of a page of a list. Many clients read only the first page, and the device sends it entry by entry, from flash. */
const MAX_PAGE_BYTES = 65_536;

/** Bytes of a message per allowed value, as in messages of a backend. */
const BYTES_PER_VALUE = 16;

const JSON_TYPE = "application/json";
const STREAM_TYPE = "text/event-stream";
const EVENT_START = "event: message\ndata: ";
const EVENT_END = "\n\n";

/** One message of a client and its answer: JSON, or an event stream if something is sent before the answer. */
export class ServedConnection extends ServedExchange {
	private readonly endpoint: McpEndpoint;
	private state: "receiving" | "answering" | "sending" | "streaming" = "receiving";
	private readonly headTimer: TimerHandle;
	/** Whether the client has sent no accepted head for {@link HEAD_TIME}. */
	isSilent = false;
	private rejection: Rejection | undefined;
	private headers: ServedRequest["headers"] = new Map();
	private response: ServedResponse | undefined;
	private session: McpSession<Hardware> | undefined;
	private isStateless = false;
	/** Whether the answer is written, or queued. */
	private isAnswered = false;

	constructor(connection: HttpConnection, endpoint: McpEndpoint) {
		const { timer } = endpoint.app;
		super(connection, timer, endpoint.maxQueuedBytes);
		this.endpoint = endpoint;
		this.limit(REQUEST_TIME, () => this.reject({ status: 408, reason: `no whole request in ${REQUEST_TIME} ms` }));
		this.headTimer = timer.set(() => {
			this.isSilent = true;
			endpoint.onSilent();
		}, HEAD_TIME);
		this.accept();
	}

	/** Hands a response of the client, which was posted separately, to the call. */
	takeResponse(response: object): void {
		this.session?.receive(response);
	}

	protected override onRequest(request: ServedRequest): void {
		const { headers } = request;
		const rejection = checkRequest(request, this.endpoint.rules);
		this.rejection = rejection;
		if (rejection === undefined) {
			this.heed();
			this.headers = headers;
			this.body = new Uint8Array(Number(headers.get("content-length")));
		} else if (headers.has("transfer-encoding") || Number(headers.get("content-length") ?? 0) > MAX_DRAINED_BYTES) {
			// The server accepts no response within this callback.
			this.limit(0, () => this.reject(rejection));
		}
	}

	/** Marks the connection as not silent. */
	private heed(): void {
		this.endpoint.app.timer.clear(this.headTimer);
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
		let text: string;
		try {
			text = decodeText(body);
		} catch (error) {
			this.reject({ status: 400, reason: (error as Error).message });
			return;
		}
		this.receive(text);
	}

	private receive(text: string): void {
		const { headers, endpoint } = this;
		const { server } = endpoint.app;
		let message: unknown;
		try {
			message = parseMessage(text, server, Math.floor(endpoint.rules.maxBytes / BYTES_PER_VALUE));
			if (isStateless(message, headers)) {
				this.isStateless = true;
				if (message.id !== undefined) {
					checkHeaders(message, headers, server);
				}
			}
			this.dispatch(message, this.isStateless ? DEFAULT_REVISION : readRevision(message, headers));
		} catch (error) {
			const id = isObject(message) && isRequestId(message.id) ? message.id : unreadableId(DEFAULT_REVISION);
			this.answer(400, errorMessage(id, error as RpcError, NO_WRAPPER));
		}
	}

	private dispatch(message: unknown, revision: Revision): void {
		const { clients, app } = this.endpoint;
		const client = clients.find(this.headers.get(CLIENT_HEADER));
		const session = app.server.open({
			owner: clients,
			pageBytes: MAX_PAGE_BYTES,
			maxBytes: this.maxQueuedBytes - EVENT_START.length - EVENT_END.length,
			send: (text, isAnswer) =>
				isAnswer
					? this.answer(statusOf(message, text, this.isStateless), text, isInitialize(message))
					: this.sendEvent(String(text)),
		});
		// The client gets only notifications about its message.
		app.server.sessions.delete(session);
		session.revision = revision;
		if (client !== undefined) {
			session.client = client;
		}
		this.session = session;
		if (isResponse(message)) {
			this.endpoint.passResponse(message);
		} else {
			session.receive(message);
		}
		if (!this.isAnswered && !expectsAnswer(message)) {
			this.respond(202, "");
			session.close();
		}
	}

	private reject({ status, reason, header }: Rejection): void {
		if (!this.isEnded && (this.state === "receiving" || this.state === "answering")) {
			this.body = undefined;
			this.endpoint.app.log(`HTTP request rejected with ${status}: ${reason}`);
			this.response = { status, headers: new Map(header && [header]) };
			this.respond(status, JSON.stringify({ error: reason }));
		}
	}

	/** Sends the answer. A session whose call waits for the client's next request stays open: it ends with the call. */
	private answer(status: number, text: Sendable, isInitialized = false): void {
		const { session, endpoint } = this;
		if (this.isAnswered) {
			return;
		}
		if (isInitialized && session !== undefined) {
			this.response?.headers.set(CLIENT_HEADER, endpoint.clients.add(session.client));
		}
		if (session?.calls.length === 0) {
			session.close();
		}
		if (this.state === "streaming") {
			this.isAnswered = true;
			this.pushAll(EVENT_START, text, EVENT_END);
		} else {
			this.respond(status, text);
		}
	}

	/** Sends a notification or request of the call, before its answer. */
	private sendEvent(text: string): void {
		if (this.isEnded) {
			return;
		}
		if (this.state === "answering") {
			this.state = "streaming";
			const headers = this.startResponse(200);
			headers.set("content-type", STREAM_TYPE);
			headers.set("cache-control", "no-cache");
			this.connection.respond(this.response as ServedResponse);
		}
		if (this.state === "streaming" && !this.isAnswered) {
			this.pushAll(EVENT_START, text, EVENT_END);
		}
	}

	private respond(status: number, text: Sendable): void {
		if (this.isEnded) {
			return;
		}
		this.state = "sending";
		this.isAnswered = true;
		this.limit(SEND_TIME);
		const headers = this.startResponse(status);
		const body = typeof text === "string" ? ArrayBuffer.fromString(text) : text;
		const bytes = body instanceof ArrayBuffer ? body.byteLength : body.bytes;
		if (bytes > 0) {
			headers.set("content-type", JSON_TYPE);
			this.pushAll(body);
		}
		headers.set("content-length", String(bytes));
		if (!this.isEnded) {
			this.connection.respond(this.response as ServedResponse);
		}
	}

	private startResponse(status: number): Map<string, string> {
		this.response ??= { status, headers: new Map() };
		this.response.status = status;
		const { headers } = this.response;
		headers.set("connection", "close");
		return headers;
	}

	/** An answer that does not fit the queue ends the connection. */
	private pushAll(...texts: readonly (Sendable | ArrayBuffer)[]): void {
		for (const text of texts) {
			if (!this.isEnded && !this.push(text)) {
				this.endpoint.app.log(`connection closed: response longer than ${this.maxQueuedBytes} bytes`);
				this.close();
			}
		}
		this.endStream();
	}

	protected override onWritable(count: number): void {
		if (!this.isEnded) {
			this.limit(this.isAnswered ? SEND_TIME : CALL_TIME);
			super.onWritable(count);
			this.endStream();
		}
	}

	/** A stream has no length, so it ends with its connection. */
	private endStream(): void {
		if (!this.isEnded && this.state === "streaming" && this.isAnswered && this.queuedBytes === 0) {
			this.close();
		}
	}

	/** Cancels the calls of the request. */
	protected override onEnd(): void {
		this.heed();
		if (!this.isAnswered) {
			this.session?.close();
		}
		this.endpoint.onEnd(this);
	}
}

/** The revision of a client that names none (MCP 2025-11-25, basic/transports#protocol-version-header). */
const DEFAULT_REVISION: Revision = "2025-03-26";

/** The start of an error response, and the error's code. */
const errorStartPattern = (): RegExp =>
	/^\{"jsonrpc":"2\.0",(?:"id":(?:"(?:[^"\\]|\\.)*"|-?\d+|null),)?"error":\{"code":(-?\d+),"message":"(_meta\.)?/;

/** Reads the revision of a message's session. @throws RpcError if it is unknown */
const readRevision = (message: unknown, headers: ServedRequest["headers"]): Revision => {
	const name = headers.get("mcp-protocol-version") ?? DEFAULT_REVISION;
	const revision = isInitialize(message) ? DEFAULT_REVISION : REVISIONS.find((each) => each === name);
	if (revision === undefined) {
		const expected = `MCP-Protocol-Version: expected one of ${REVISIONS.join(", ")}`;
		throw new RpcError(ErrorCode.invalidRequest, `Unsupported protocol version. ${expected}`);
	}
	return revision;
};

/** The HTTP status of an answer. Since 2026-07-28 protocol errors also have one. */
const statusOf = (message: unknown, answer: Sendable, isStateless: boolean): number => {
	if (!isStateless) {
		return isReadable(message) ? 200 : 400;
	}
	const [, code, meta] = (typeof answer === "string" && errorStartPattern().exec(answer)) || [];
	switch (code) {
		case "-32601":
			return 404;
		case "-32600":
		case "-32021":
		case "-32022":
			return 400;
		case "-32602":
			return meta === undefined ? 200 : 400;
		default:
			return 200;
	}
};

/** Whether a message begins a session. */
const isInitialize = (message: unknown): boolean => isObject(message) && message.method === "initialize";

/** Whether a message answers a request of the device. */
const isResponse = (message: unknown): message is object =>
	isObject(message) && (message.method ?? null) === null && ("result" in message || "error" in message);

/** Whether a message is one of JSON-RPC, or a batch. */
const isReadable = (message: unknown): boolean =>
	Array.isArray(message) ? message.length > 0 : isObject(message) && typeof message.method === "string";

/** Whether a message is a request, or a batch with one. */
const expectsAnswer = (message: unknown): boolean =>
	Array.isArray(message)
		? message.some(expectsAnswer)
		: isObject(message) && typeof message.method === "string" && message.id !== undefined;
