import type { JSONRPCMessage } from "@modelcontextprotocol/server";
import type { Catalog } from "./catalog.js";

/** Requests to listen that are followed at the same time over one connection, or with one token. */
export const MAX_LISTENS = 1_000;

/** Resources that a client may name in one `subscriptions/listen`. */
export const MAX_LISTENED = 1_000;

/**
 * Subscribes to updates of a resource. States of servers come from the gateway itself.
 *
 * Rejects with the SDK's ProtocolError if the server rejects it, and with ServerError if it does not answer.
 *
 * @returns a function that stops it; undefined if the resource does not exist
 */
export async function follow(catalog: Catalog, uri: string): Promise<(() => void) | undefined> {
	if (catalog.findState(uri) !== undefined) {
		return () => {};
	}
	const found = catalog.findResource(uri);
	return await found?.server.subscriptions.add(found.uri);
}

/**
 * Follows the resources that a `subscriptions/listen` (2026-07-28) names, as long as its stream is open.
 *
 * @param warn called with the reason if a resource is not followed, since the client's request has been accepted by then
 * @returns a function that stops it
 */
export function followListened(catalog: Catalog, uris: Iterable<string>, warn: (message: string) => void): () => void {
	const following = [...uris].map((uri) =>
		follow(catalog, uri).catch((error: Error) => {
			warn(`${uri} is not followed: ${error.message}`);
			return undefined;
		}),
	);
	return () => {
		for (const each of following) {
			void each.then((end) => end?.());
		}
	};
}

/** Follows what a client listens to over a single connection: standard input. */
export class Listening {
	readonly #catalog: Catalog;
	readonly #warn: (message: string) => void;
	/** Stops each, by the id of the request. */
	readonly #ends = new Map<unknown, () => void>();

	/** @param warn called with the reason if a resource is not followed */
	constructor(catalog: Catalog, warn: (message: string) => void) {
		this.#catalog = catalog;
		this.#warn = warn;
	}

	/** Inspects a message of the client. The SDK answers it, and limits how many streams are open. */
	received(message: JSONRPCMessage): void {
		const { id, method, params } = message as { id?: unknown; method?: string; params?: { requestId?: unknown } };
		if (method === "subscriptions/listen" && !this.#ends.has(id) && this.#ends.size < MAX_LISTENS) {
			this.#ends.set(id, followListened(this.#catalog, listenedUris(message), this.#warn));
		} else if (method === "notifications/cancelled") {
			this.#end(params?.requestId);
		}
	}

	/** The client has disconnected. */
	close(): void {
		for (const id of [...this.#ends.keys()]) {
			this.#end(id);
		}
	}

	#end(id: unknown): void {
		this.#ends.get(id)?.();
		this.#ends.delete(id);
	}
}

/** The resources that a `subscriptions/listen` names. */
function listenedUris(message: unknown): string[] {
	const { params } = message as { params?: { notifications?: { resourceSubscriptions?: unknown } } };
	const uris = params?.notifications?.resourceSubscriptions;
	return Array.isArray(uris) ? [...new Set(uris)].filter((uri) => typeof uri === "string").slice(0, MAX_LISTENED) : [];
}
