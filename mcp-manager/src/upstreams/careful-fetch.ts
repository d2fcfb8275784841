import { setMaxListeners } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import type { FetchLike } from "@modelcontextprotocol/client";
import { backoff } from "../core/backoff.js";
import { EventSize } from "./event-size.js";
import { RateLimitError, statusMessage } from "./http-failure.js";
import { readEvents, readWhole } from "./read-body.js";
import { ReadBudget } from "./read-budget.js";

/** HTTP 429: the request was not carried out, so that it is safe to make it again. */
const TOO_MANY_REQUESTS = 429;

const MAX_ATTEMPTS = 4;

/** The delays if the server names none, ms. */
const BACKOFF = { initialDelay: 1_000, maxDelay: 30_000 };

/** Bytes of a JSON answer, or of an event of a stream. A longer one is an error of the server. */
const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;

interface CarefulFetchOptions {
	/** Milliseconds that a request may wait for a server that has had too many, all attempts together. */
	readonly patience: number;
	/** Called for a message that is too large; its response fails. */
	readonly onTooLarge: (problem: string) => void;
}

/**
 * `fetch` that waits and asks again if the server says that there were too many requests, and limits what is read of a response:
 * bytes of a message, and bytes in a second. Rejects with RateLimitError if it would have to wait for too long, or too often.
 */
export function makeCarefulFetch({ patience, onTooLarge }: CarefulFetchOptions): FetchLike {
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
				return limited(response, onTooLarge);
			}
			const retryAfter = readRetryAfter(response.headers.get("retry-after"));
			const wait = retryAfter ?? backoff(BACKOFF, attempt - 1);
			patienceLeft -= wait;
			if (patienceLeft < 0 || attempt === MAX_ATTEMPTS) {
				const { status, statusText } = response;
				const text = await limited(response, onTooLarge).text();
				throw new RateLimitError(statusMessage(status, statusText, text), retryAfter);
			}
			await response.body?.cancel();
			await delay(wait, undefined, init?.signal ? { signal: init.signal } : {});
		}
	};
}

/** Milliseconds that the header `Retry-After` asks for: it has seconds, or a date. */
function readRetryAfter(header: string | null): number | undefined {
	if (header === null) {
		return undefined;
	}
	const wait = /^[0-9]+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now();
	return Number.isNaN(wait) ? undefined : Math.max(wait, 0);
}

/** A stream of events has no end, but each event has; anything else may be as long as one message. */
function limited(response: Response, onTooLarge: (problem: string) => void): Response {
	const { body, headers, status, statusText } = response;
	if (body === null) {
		return response;
	}
	const isStream = headers.get("content-type")?.startsWith("text/event-stream") === true;
	const event = new EventSize();
	const budget = new ReadBudget();
	let bytes = 0;
	const limit = new TransformStream<Uint8Array, Uint8Array>({
		async transform(chunk, controller) {
			bytes = isStream ? event.after(chunk) : bytes + chunk.byteLength;
			if (bytes > MAX_MESSAGE_BYTES) {
				const problem = `${isStream ? "event" : "response"} too large (limit ${MAX_MESSAGE_BYTES} bytes)`;
				controller.error(new Error(problem));
				onTooLarge(problem);
				return;
			}
			controller.enqueue(chunk);
			const wait = budget.spend(chunk.byteLength);
			if (wait > 0) {
				await delay(wait, undefined, { ref: false });
			}
		},
	});
	const isJson = headers.get("content-type")?.startsWith("application/json") === true;
	const messages = response.ok && (isStream ? readEvents() : isJson ? readWhole() : undefined);
	const whole = body.pipeThrough(limit);
	return new Response(messages ? whole.pipeThrough(messages) : whole, { headers, status, statusText });
}
