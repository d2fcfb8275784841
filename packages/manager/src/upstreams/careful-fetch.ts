import { setMaxListeners } from "node:events";
import type { Transformer } from "node:stream/web";
import { setTimeout as delay } from "node:timers/promises";
import { type FetchLike, SdkHttpError } from "@modelcontextprotocol/client";
import { createParser, type EventSourceParser } from "eventsource-parser";
import { backoff, ServerError } from "../core/errors.js";
import { isMessageLike, MAX_MESSAGE_BYTES, ReadBudget, readMessage } from "../core/received.js";

/** HTTP 429: the request was not carried out, so that it is safe to make it again. */
const TOO_MANY_REQUESTS = 429;

const MAX_ATTEMPTS = 4;

/** The delays if the server names none, ms. */
const BACKOFF = { initialDelay: 1_000, maxDelay: 30_000 };

type OnTooLarge = (problem: string) => void;

/**
 * Makes a `fetch` that waits and retries after HTTP 429, and limits the bytes of a message and those read per second.
 * It rejects with ServerError "rate-limited" if it would have to wait too long or too often.
 *
 * @param patience milliseconds that a request may wait for a server that limits its rate, all attempts together
 * @param onTooLarge called for a message that is too large; its response fails
 */
export function makeCarefulFetch(patience: number, onTooLarge: OnTooLarge): FetchLike {
	return async (url, init) => {
		if (init?.signal) {
			// The SDK uses one signal for all requests of a session, and Node's `fetch` listens to it until the request is
			// collected as garbage: under load Node would repeatedly warn of a leak. Not 0: with that, getMaxListeners of Node 20
			// throws, which the `fetch` of the npm package undici calls; programs like pi replace Node's by it.
			setMaxListeners(Number.POSITIVE_INFINITY, init.signal);
		}
		let patienceLeft = patience;
		for (let attempt = 1; ; attempt += 1) {
			const response = await fetch(url, init);
			if (response.status !== TOO_MANY_REQUESTS) {
				return await limited(response, onTooLarge);
			}
			const header = response.headers.get("retry-after") ?? "";
			// `Retry-After` has seconds, or a date.
			const asked = /^[0-9]+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now();
			const retryAfter = Number.isNaN(asked) ? undefined : Math.max(asked, 0);
			const wait = retryAfter ?? backoff(BACKOFF, attempt - 1);
			patienceLeft -= wait;
			if (patienceLeft < 0 || attempt === MAX_ATTEMPTS) {
				const { status, statusText } = response;
				const text = await (await limited(response, onTooLarge)).text();
				const hint = retryAfter === undefined ? "" : ` (try again in ${Math.ceil(retryAfter / 1_000)} s)`;
				throw new ServerError("rate-limited", statusMessage(status, statusText, text) + hint, { retryAfter });
			}
			await response.body?.cancel();
			await delay(wait, undefined, init?.signal ? { signal: init.signal } : {});
		}
	};
}

/** Limits the bytes of a response, or of each event of a stream, which has no end. Makes the messages in it valid. */
async function limited(response: Response, onTooLarge: OnTooLarge): Promise<Response> {
	const { body, headers, ok, status, statusText } = response;
	if (body === null) {
		return response;
	}
	const isStream = ok && headers.get("content-type")?.startsWith("text/event-stream");
	const limit = limitOf(isStream ? Number.POSITIVE_INFINITY : MAX_MESSAGE_BYTES, onTooLarge);
	const bytes = body.pipeThrough(new TransformStream(limit));
	const messages = isStream
		? bytes
				.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>)
				.pipeThrough(new TransformStream(eventReader(onTooLarge)))
				.pipeThrough(new TextEncoderStream())
		: readJson(await new Response(bytes).text());
	return new Response(messages, { headers, status, statusText });
}

function limitOf(maxBytes: number, onTooLarge: OnTooLarge): Transformer<Uint8Array, Uint8Array> {
	const budget = new ReadBudget();
	let bytes = 0;
	return {
		async transform(chunk, controller) {
			bytes += chunk.byteLength;
			if (bytes > maxBytes) {
				fail(controller, "response", onTooLarge);
				return;
			}
			controller.enqueue(chunk);
			const wait = budget.spend(chunk.byteLength);
			if (wait > 0) {
				await delay(wait, undefined, { ref: false });
			}
		},
	};
}

function fail(controller: TransformStreamDefaultController, what: string, onTooLarge: OnTooLarge): void {
	const problem = `${what} too large (limit ${MAX_MESSAGE_BYTES} bytes)`;
	controller.error(new Error(problem));
	onTooLarge(problem);
}

/** Makes the JSON-RPC messages in the events of a stream valid. */
function eventReader(onTooLarge: OnTooLarge): Transformer<string, string> {
	let parser: EventSourceParser;
	return {
		start(controller) {
			parser = createParser({
				maxBufferSize: MAX_MESSAGE_BYTES,
				onEvent({ event, id, data }) {
					const lines = [...(event ? [`event: ${event}`] : []), ...(id === undefined ? [] : [`id: ${id}`])];
					controller.enqueue([...lines, `data: ${readJson(data).replaceAll("\n", "\ndata: ")}`, "", ""].join("\n"));
				},
				onRetry: (time) => controller.enqueue(`retry: ${time}\n`),
				onError: ({ type }) => type === "max-buffer-size-exceeded" && fail(controller, "event", onTooLarge),
			});
		},
		transform: (piece) => parser.feed(piece),
		// The last event may lack its line end, and the empty line after it.
		flush: () => parser.feed("\n\n"),
	};
}

/** Makes the JSON-RPC messages in a text valid. Other text is returned unchanged. */
function readJson(text: string): string {
	try {
		const value: unknown = JSON.parse(text);
		const isBatch = Array.isArray(value) && value.every(isMessageLike);
		return isBatch || isMessageLike(value)
			? JSON.stringify(isBatch ? value.map(readMessage) : readMessage(value))
			: text;
	} catch {
		return text;
	}
}

/** Characters of a body that are quoted: some servers answer with whole pages. */
const MAX_BODY = 300;

/** Errors of `fetch` after which the request was not sent, because there was no connection. */
const NOT_REACHED: ReadonlySet<unknown> = new Set(
	"ECONNREFUSED EHOSTUNREACH ENETUNREACH ENOTFOUND EAI_AGAIN UND_ERR_CONNECT_TIMEOUT".split(" "),
);

/** The error for a request that an HTTP server has refused, with the status and the beginning of the body. */
export function httpFailure(error: SdkHttpError): Error {
	const { status, statusText } = error;
	const { text } = error.data as { text?: string | null };
	// The SDK's message says where a redirect leads.
	const message = statusMessage(status, statusText, status < 400 ? error.message.replace(/^.*?: /, "") : text);
	return status === 401 || status === 403
		? new ServerError("permission-denied", message, { cause: error })
		: new Error(message, { cause: error });
}

/** "HTTP 500 Internal Server Error: ", and the beginning of the body. */
export function statusMessage(status: number, statusText = "", text: string | null = ""): string {
	const body = (text ?? "").replace(/\s+/g, " ").trim().slice(0, MAX_BODY);
	return [`HTTP ${status}${statusText && ` ${statusText}`}`, ...(body === "" ? [] : [body])].join(": ");
}

/** Whether there was a connection to the server. */
export function isReached(error: unknown): boolean {
	return !NOT_REACHED.has((error as { cause?: NodeJS.ErrnoException }).cause?.code);
}

/**
 * Whether a request did not reach the server. Processes and WebSockets reject only messages that were not sent. HTTP
 * also rejects if the answer cannot be read.
 */
export function isUnsent(error: unknown, transport: string): boolean {
	const isOverHttp = transport !== "stdio" && transport !== "websocket";
	return !isOverHttp || error instanceof SdkHttpError || error instanceof ServerError || !isReached(error);
}
