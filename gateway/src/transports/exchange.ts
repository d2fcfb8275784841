import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import {
	type JSONRPCMessage,
	type JSONRPCRequest,
	ProtocolErrorCode,
	type RequestId,
	SUBSCRIPTION_ID_META_KEY,
} from "@modelcontextprotocol/server";
import { SERVER_ERROR, SESSION_NOT_FOUND } from "xs-mcp-manager/core";
import { sendJsonRpcError as reject } from "../http/http-error.js";
import { eventOf } from "./event-log.js";

/** How the responses of one transport are written. */
export interface ResponseForm {
	/** Headers of each response. */
	readonly headers: () => OutgoingHttpHeaders;
	/** The text of an event with the JSON of a message. */
	readonly event: (stream: number, json: string) => string;
	/** The text that begins a stream before its first event. */
	readonly first: (stream: number) => string;
	readonly onError: (error: Error) => void;
}

interface ExchangeOptions {
	/** Its name in the ids of events. */
	readonly stream?: number;
	/** The client's requests, by the ids that the server gives their answers. */
	readonly requests?: readonly (readonly [RequestId, JSONRPCRequest])[];
	readonly isBatch?: boolean;
}

/** Milliseconds after which a response becomes a stream, and between the comments that keep a stream open. */
const KEEP_ALIVE = 15_000;

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
 * The messages to the client that belong together: they go to its HTTP response, or after that was lost to the next one. An
 * answer is JSON, in one write; it becomes a stream of events only if something precedes it, or if it takes long.
 *
 * Not the SDK's transports: those make every answer a web stream, and write its headers apart.
 */
export class Exchange {
	readonly stream: number;
	/** Requests without an answer. */
	readonly pending: Map<RequestId, JSONRPCRequest>;
	readonly #form: ResponseForm;
	readonly #isBatch: boolean;
	/** JSON of messages that were not sent yet. */
	readonly #answers: string[] = [];
	#response: ServerResponse;
	#isStream = false;

	constructor(response: ServerResponse, form: ResponseForm, options: ExchangeOptions) {
		const { stream = 0, requests, isBatch = false } = options;
		this.stream = stream;
		this.pending = new Map(requests);
		this.#isBatch = isBatch;
		this.#form = form;
		this.#response = response;
		this.#keepAlive();
	}

	/** Whether its response is a stream of events. Otherwise the answers are sent as JSON, once all requests have theirs. */
	get isStream(): boolean {
		return this.#isStream;
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
		if (!this.#isStream) {
			this.#isStream = true;
			response.writeHead(200, { ...STREAM, ...this.#form.headers() });
			for (const earlier of this.#answers.splice(0)) {
				response.write(this.#form.event(this.stream, earlier));
			}
		}
		response.write(text);
	}

	/** Sends the JSON of the answer to a request. After the last one the response ends, with this status unless it is a stream. */
	answer(id: RequestId, json: string, status = 200): void {
		if (this.#isStream) {
			this.write(this.#form.event(this.stream, json));
		} else {
			this.#answers.push(json);
		}
		this.settle(id, status);
	}

	/** Marks a request as answered, or as one that gets no answer. */
	settle(id: RequestId, status = 200): void {
		this.pending.delete(id);
		const [response, answers] = [this.#response, this.#answers];
		if (this.pending.size > 0 || response.destroyed) {
			return;
		}
		if (this.#isStream) {
			response.end();
		} else if (answers.length === 0) {
			response.writeHead(status, { ...STREAM, ...this.#form.headers() }).end();
		} else {
			const text = this.#isBatch ? `[${answers.splice(0).join(",")}]` : (answers.pop() as string);
			const length = Buffer.byteLength(text);
			const type = { "Content-Type": "application/json", "Content-Length": length };
			response.writeHead(status, { ...type, ...this.#form.headers() });
			response.end(text);
		}
	}

	/** Continues in another response: the client has lost the previous one. */
	moveTo(response: ServerResponse, missed: string): void {
		if (this.#response !== response) {
			this.#response.destroy();
			this.#response = response;
			this.#keepAlive();
		}
		this.#isStream = false;
		this.write(missed === "" ? this.#form.first(this.stream) : missed);
	}

	/** Disconnects the client. */
	cut(): void {
		this.#response.destroy();
	}

	/** Ends a stream without requests. */
	end(): void {
		this.#response.end();
	}

	/** Ends it while requests are in progress. */
	interrupt(isSessionEnded = false): void {
		const response = this.#response;
		if (this.#isStream) {
			for (const [, request] of this.pending) {
				this.write(eventOf(JSON.stringify(lastMessage(request))));
			}
			response.end();
		} else if (isSessionEnded) {
			reject(response, 404, SESSION_NOT_FOUND, "Session not found");
		} else if (!response.headersSent) {
			reject(response, 503, SERVER_ERROR, INTERRUPTED);
		}
	}

	/** Keeps the connection open. Data that waits to be sent does that, too. */
	#keepAlive(): void {
		const response = this.#response;
		const keepOpen = (): void => {
			try {
				if (response.writableLength === 0) {
					this.write(this.#isStream ? COMMENT : this.#form.first(this.stream));
				}
			} catch (error) {
				response.destroy();
				this.#form.onError(error as Error);
			}
		};
		const timer = setInterval(keepOpen, KEEP_ALIVE).unref();
		response.once("close", () => clearInterval(timer));
	}
}

/** The last message of a stream whose request is in progress: an error, or the result of `subscriptions/listen`, which can end at any time. */
function lastMessage({ id, method }: JSONRPCRequest): object {
	const ended = { resultType: "complete", _meta: { [SUBSCRIPTION_ID_META_KEY]: id } };
	const error = { code: SERVER_ERROR, message: INTERRUPTED };
	return { jsonrpc: "2.0", id, ...(method === "subscriptions/listen" ? { result: ended } : { error }) };
}

/**
 * The JSON of a message. An answer that has none, because it nests too deep for example, becomes the error of its request:
 * its client would wait for it.
 *
 * @throws TypeError or RangeError if a request or a notification has none
 */
export function textOf(message: JSONRPCMessage): string {
	try {
		return JSON.stringify(message);
	} catch (error) {
		if ("method" in message) {
			throw error;
		}
		const problem = `the answer cannot be sent: ${(error as Error).message}`;
		return JSON.stringify({
			jsonrpc: "2.0",
			id: message.id,
			error: { code: ProtocolErrorCode.InternalError, message: problem },
		});
	}
}
