import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import {
	type JSONRPCMessage,
	type JSONRPCRequest,
	ProtocolErrorCode,
	type RequestId,
	SUBSCRIPTION_ID_META_KEY,
} from "@modelcontextprotocol/server";
import { SERVER_ERROR } from "xs-mcp-manager/core";
import { GatewayError } from "../gateway-error.js";
import { answerRpc } from "../http/route.js";
import type { Channel, ClientRequest } from "../mcp/client-request.js";

/** How the responses of one transport are written. */
export interface ResponseForm {
	/** Headers of every response. Passing them to one `writeHead` call saves Node from copying and checking each. */
	readonly headers: OutgoingHttpHeaders;
	/** The text of an event with the JSON of a message; `method` is that of a notification or request. */
	readonly event: (stream: number, json: string, method?: string) => string;
	/** The text that begins a stream before its first event. */
	readonly first: (stream: number) => string;
	readonly onError: (error: Error) => void;
	/** Called when the response of an exchange has ended, or its connection is lost. */
	readonly onClose: (exchange: Exchange, isAnswered: boolean) => void;
}

/** Interval of the checks of open responses, ms. After two of them, a response becomes a stream, or its stream gets a comment. */
const TICK = 7_500;
const QUIET_TICKS = 2;

/** Bytes that may wait to be sent when a notification comes. Answers have no such limit: createHttpServer cuts a client that has stopped reading. */
const MAX_UNSENT_BYTES = 1024 * 1024;

const INTERRUPTED = "the gateway has stopped while the request was in progress: it may have been carried out";

/** A comment, which clients ignore: it keeps the connection open. */
export const COMMENT = ": keepalive\n\n";

export const STREAM = {
	"Content-Type": "text/event-stream",
	"Cache-Control": "no-cache, no-transform",
	Connection: "keep-alive",
	"X-Accel-Buffering": "no",
};

/**
 * The messages to a client that share an HTTP response, or the next one if its connection is lost. An answer is JSON in one
 * write; the response becomes a stream of events only if a notification or a question precedes it, or if it takes long.
 *
 * The SDK's transports are not used: they make every answer a web stream, and write its headers separately.
 */
export class Exchange implements Channel {
	/** The number of its stream in the ids of events. */
	readonly stream: number;
	/** Whether its response is a stream of events. Otherwise the answers are sent as JSON, once all requests have theirs. */
	isStream = false;
	/** Requests without an answer. */
	readonly #pending = new Map<RequestId, JSONRPCRequest>();
	readonly #form: ResponseForm;
	readonly #isBatch: boolean;
	/** JSON of answers that are sent once all requests have theirs. */
	readonly #answers: string[] = [];
	#response: ServerResponse;
	#quietTicks = 0;

	constructor(
		response: ServerResponse,
		form: ResponseForm,
		requests: readonly JSONRPCRequest[] = [],
		stream = 0,
		isBatch = false,
	) {
		for (const request of requests) {
			this.#pending.set(request.id, request);
		}
		this.stream = stream;
		this.#isBatch = isBatch;
		this.#form = form;
		this.#response = response;
		this.#keepAlive();
	}

	/** Whether the connection of its response is lost. */
	get isLost(): boolean {
		return this.#response.destroyed;
	}

	/** Whether its client reads too slowly for more notifications. */
	get isSlow(): boolean {
		return this.#response.writableLength > MAX_UNSENT_BYTES;
	}

	/** Writes the text of an event. Written but unread data is lost with the connection. */
	write(text: string): void {
		const response = this.#response;
		if (response.destroyed || response.writableEnded) {
			return;
		}
		if (!this.isStream) {
			this.isStream = true;
			response.writeHead(200, { ...this.#form.headers, ...STREAM });
			for (const earlier of this.#answers.splice(0)) {
				response.write(this.#form.event(this.stream, earlier));
			}
		}
		response.write(text);
	}

	/**
	 * Sends a message. A client that reads too slowly gets no progress and log messages of its requests. Other notifications cut
	 * its connection: it may resume.
	 *
	 * @throws TypeError or RangeError if it has no JSON
	 */
	send(message: JSONRPCMessage, request?: ClientRequest): void {
		const text = JSON.stringify(message);
		if ("method" in message) {
			if (this.isSlow && !("id" in message)) {
				if (request !== undefined && OF_CALLS.has(message.method)) {
					return;
				}
				this.cut();
			}
			if (!this.#response.writableEnded && (this.isStream || !this.isLost)) {
				this.write(this.#form.event(this.stream, text, message.method));
			}
			return;
		}
		const status = "error" in message && request?.session === undefined ? STATUS[message.error.code] : 200;
		this.settle(message.id as RequestId, text, status);
	}

	/**
	 * Marks a request as answered. After the last one the response ends, with this status unless it is a stream.
	 *
	 * @param json of the answer; undefined: the request gets none
	 */
	settle(id: RequestId, json?: string, status = 200): void {
		if (!this.#pending.delete(id)) {
			return;
		}
		const [response, answers] = [this.#response, this.#answers];
		if (json !== undefined && this.isStream) {
			this.write(this.#form.event(this.stream, json));
		} else if (json !== undefined) {
			answers.push(json);
		}
		if (this.#pending.size > 0 || response.destroyed) {
			return;
		}
		if (this.isStream) {
			response.end();
		} else if (answers.length === 0) {
			response.writeHead(status, { ...this.#form.headers, ...STREAM }).end();
		} else {
			const text = this.#isBatch ? `[${answers.splice(0).join(",")}]` : (answers.pop() as string);
			const length = Buffer.byteLength(text);
			const headers = { "Content-Type": "application/json", "Content-Length": length, ...this.#form.headers };
			response.writeHead(status, headers).end(text);
		}
	}

	/** Continues in another response: the client has lost the previous one. */
	moveTo(response: ServerResponse, missed: string): void {
		if (this.#response !== response) {
			this.#response.destroy();
			this.#response = response;
			this.#keepAlive();
		}
		this.isStream = false;
		this.write(missed === "" ? this.#form.first(this.stream) : missed);
	}

	/** Disconnects the client. */
	cut(): void {
		this.#response.destroy();
	}

	/** Ends it. Requests in progress get an error. */
	interrupt(isSessionEnded = false): void {
		const response = this.#response;
		const requests = [...this.#pending.values()];
		this.#pending.clear();
		if (this.isStream) {
			for (const { id, method } of requests) {
				// `subscriptions/listen` can end at any time: with a result.
				const result = { resultType: "complete", _meta: { [SUBSCRIPTION_ID_META_KEY]: id } };
				const error = { code: SERVER_ERROR, message: INTERRUPTED };
				const end = method === "subscriptions/listen" ? { result } : { error };
				this.write(eventOf(JSON.stringify({ jsonrpc: "2.0", id, ...end })));
			}
			response.end();
		} else if (isSessionEnded) {
			answerRpc(response, new GatewayError("session-not-found", "Session not found"));
		} else if (!response.headersSent) {
			answerRpc(response, new GatewayError("unavailable", INTERRUPTED));
		}
	}

	/** Keeps the connection of its response open. */
	#keepAlive(): void {
		const response = this.#response;
		this.#quietTicks = 0;
		open.add(this);
		timer ??= setInterval(() => open.forEach((exchange) => void exchange.#tick()), TICK).unref();
		response.on("close", () => {
			if (this.#response === response) {
				open.delete(this);
				this.#form.onClose(this, this.#pending.size === 0);
			}
			if (open.size === 0) {
				clearInterval(timer);
				timer = undefined;
			}
		});
	}

	/** Data that waits to be sent keeps a connection open, too. */
	#tick(): void {
		this.#quietTicks = (this.#quietTicks + 1) % QUIET_TICKS;
		try {
			if (this.#quietTicks === 0 && this.#response.writableLength === 0) {
				this.write(this.isStream ? COMMENT : this.#form.first(this.stream));
			}
		} catch (error) {
			this.cut();
			this.#form.onError(error as Error);
		}
	}
}

/** Notifications that are dropped for slow readers. */
const OF_CALLS: ReadonlySet<string> = new Set(["notifications/progress", "notifications/message"]);

/** The status of a response to a request without a session, by the code of its error. Default: 200. */
const STATUS: Readonly<Record<number, number>> = {
	[ProtocolErrorCode.MissingRequiredClientCapability]: 400,
	[ProtocolErrorCode.MethodNotFound]: 404,
};

/** Exchanges whose response is open, and the one timer that keeps their connections open. */
const open = new Set<Exchange>();
let timer: NodeJS.Timeout | undefined;

/** Events that a session keeps, and their characters in all. */
const MAX_EVENTS = 64;
const MAX_CHARACTERS = 64 * 1024;

/** Places an event: in its stream, and among all events of the session. */
export interface EventId {
	readonly stream: number;
	readonly number: number;
}

/**
 * The last server-sent events of a session, for a client that has lost its connection: MCP "Resumability and Redelivery".
 * Events of all streams share the limits; the oldest go first.
 */
export class SentEvents {
	readonly #events: (EventId & { readonly text: string })[] = [];
	#characters = 0;
	/** Starts above the numbers of an earlier process, whose clients resume here. */
	#last = Date.now();

	/** The number of the last event. */
	get last(): number {
		return this.#last;
	}

	/** The text of an event without a message, from whose id a client may resume: it gets every later one. */
	empty(stream: number): string {
		return `id: ${stream}-${this.#last}\ndata: \n\n`;
	}

	/** Keeps the JSON of a message. Returns the text of its event. */
	add(stream: number, json: string): string {
		this.#last += 1;
		const text = `id: ${stream}-${this.#last}\n${eventOf(json)}`;
		this.#events.push({ stream, number: this.#last, text });
		this.#characters += text.length;
		while (this.#events.length > MAX_EVENTS || this.#characters > MAX_CHARACTERS) {
			this.#characters -= this.#events.shift()?.text.length ?? 0;
		}
		return text;
	}

	/** The texts of the kept events of a stream after one. */
	after({ stream, number }: EventId): string {
		return this.#events
			.flatMap((event) => (event.stream === stream && event.number > number ? [event.text] : []))
			.join("");
	}
}

/** The text of an event that is not kept, with the JSON of a message. */
export function eventOf(json: string): string {
	return `event: message\ndata: ${json}\n\n`;
}

/** Reads a `Last-Event-ID`; undefined if no {@link SentEvents} has made it. */
export function readEventId(text: string): EventId | undefined {
	const [, stream, number] = /^(\d{1,15})-(\d{1,15})$/.exec(text) ?? [];
	return number === undefined ? undefined : { stream: Number(stream), number: Number(number) };
}
