import type { IncomingMessage } from "node:http";
import { text as readText } from "node:stream/consumers";
import { createParser } from "eventsource-parser";

/** A JSON-RPC message. The client and the gateway check its content. */
export interface Message {
	readonly jsonrpc: "2.0";
	readonly id?: string | number;
	readonly method?: string;
	readonly params?: { readonly _meta?: Record<string, unknown> } & Record<string, unknown>;
	readonly result?: Record<string, unknown>;
	readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** Milliseconds without a byte of a response, for a network that fails silently. The gateway's own limits are shorter. */
export const PATIENCE = 300_000;

export interface HttpRequest {
	readonly method?: string;
	readonly headers?: Readonly<Record<string, string>>;
	/** The body, which is sent as JSON. */
	readonly json?: object;
	readonly signal?: AbortSignal;
	/** Milliseconds without a byte from the server after which the request fails. Default: no limit. */
	readonly timeout?: number;
}

/** The server has answered a request with an error. */
export class Rejection extends Error {
	readonly status: number;
	readonly rpc: { readonly code?: number; readonly data?: unknown };

	constructor(status: number, message: string, rpc: Rejection["rpc"] = {}) {
		super(message);
		this.status = status;
		this.rpc = rpc;
	}
}

/**
 * Sends one HTTP request. Settles at the response's headers. Not fetch: loading that takes four times the CPU.
 *
 * Rejects with {@link Rejection} unless the status is 200 to 299, and with Node's error if there is no response.
 */
export async function sendRequest(url: string, { json, headers, ...options }: HttpRequest): Promise<IncomingMessage> {
	const { request } = url.startsWith("https:") ? await import("node:https") : await import("node:http");
	const type = json !== undefined && { "Content-Type": "application/json" };
	const response = await new Promise<IncomingMessage>((resolve, reject) => {
		const sent = request(url, { ...options, headers: { ...headers, ...type } }, resolve);
		sent.on("timeout", () => sent.destroy(new Error("the response has stopped")));
		sent.on("error", reject);
		sent.end(json && JSON.stringify(json));
	});
	const { statusCode: status = 0, statusMessage } = response;
	if (status >= 300) {
		const { message = `${status} ${statusMessage}`, ...rpc } = errorIn(await readText(response));
		throw new Rejection(status, message, rpc);
	}
	return response;
}

/** The messages of a response: one as JSON, or a stream of events. */
export async function* messagesIn(response: IncomingMessage): AsyncGenerator<Message> {
	const isStream = response.headers["content-type"]?.startsWith("text/event-stream");
	for await (const text of isStream ? eventsIn(response) : [await readText(response)]) {
		// An event without data has only an id.
		if (text !== "") {
			yield JSON.parse(text);
		}
	}
}

/** The data of each event in a response that is a stream of events. */
export async function* eventsIn(response: IncomingMessage): AsyncGenerator<string> {
	const events: string[] = [];
	const parser = createParser({ onEvent: ({ data }) => events.push(data) });
	for await (const chunk of response.setEncoding("utf8")) {
		parser.feed(chunk);
		yield* events.splice(0);
	}
}

function errorIn(body: string): Rejection["rpc"] & { readonly message?: string } {
	try {
		return JSON.parse(body).error ?? {};
	} catch {
		return {};
	}
}
