import { setMaxListeners } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import type { FetchLike } from "@modelcontextprotocol/client";
import { backoff } from "../core/backoff.js";

/** HTTP 429: the request was not carried out, so that it is safe to make it again. */
const TOO_MANY_REQUESTS = 429;

const MAX_ATTEMPTS = 4;

/** Milliseconds that a server may ask to wait. */
const MAX_WAIT = 30_000;

/** The delays if the server names none. */
const BACKOFF = { initialDelay: 1_000, maxDelay: MAX_WAIT };

/** Bytes of a JSON answer. A longer one is a fault of the server's. */
const MAX_JSON_BYTES = 10 * 1024 * 1024;

/** `fetch` that waits and asks again if the server says that there were too many requests, and limits the answer. */
export const carefulFetch: FetchLike = async (url, init) => {
	if (init?.signal) {
		// The SDK uses one signal for all requests of a session, and Node's `fetch` listens to it until the request is
		// collected as garbage: under load Node would warn of a leak again and again.
		setMaxListeners(0, init.signal);
	}
	for (let attempt = 1; ; attempt += 1) {
		const response = await fetch(url, init);
		if (response.status !== TOO_MANY_REQUESTS || attempt === MAX_ATTEMPTS) {
			return withLimit(response);
		}
		const wait = retryAfter(response.headers.get("retry-after")) ?? backoff(BACKOFF, attempt - 1);
		if (wait > MAX_WAIT) {
			return response;
		}
		await response.body?.cancel();
		await delay(wait, undefined, init?.signal ? { signal: init.signal } : {});
	}
};

/** Milliseconds that the header `Retry-After` asks for: it has seconds, or a date. */
function retryAfter(header: string | null): number | undefined {
	if (header === null) {
		return undefined;
	}
	const wait = /^[0-9]+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now();
	return Number.isNaN(wait) ? undefined : Math.max(wait, 0);
}

/** A stream of events has no end; anything else may be as long as one message. */
function withLimit(response: Response): Response {
	const { body, headers, status, statusText } = response;
	if (body === null || headers.get("content-type")?.startsWith("text/event-stream")) {
		return response;
	}
	let bytes = 0;
	const limit = new TransformStream<Uint8Array, Uint8Array>({
		transform(chunk, controller) {
			bytes += chunk.byteLength;
			if (bytes > MAX_JSON_BYTES) {
				controller.error(new Error(`response too large (limit ${MAX_JSON_BYTES} bytes)`));
			} else {
				controller.enqueue(chunk);
			}
		},
	});
	return new Response(body.pipeThrough(limit), { headers, status, statusText });
}
