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

/**
 * Follows what a client listens to over a single connection: standard input.
 *
 * @param warn called with the reason if a resource is not followed
 * @returns a function for each message of the client, and one that stops all. The SDK answers, and limits the open streams
 */
export function followClient(catalog: Catalog, warn: (message: string) => void) {
	/** Stops each, by the id of the request. */
	const ends = new Map<unknown, () => void>();
	const end = (id: unknown): void => {
		ends.get(id)?.();
		ends.delete(id);
	};
	return {
		received(message: JSONRPCMessage): void {
			const { id, method, params } = message as { id?: unknown; method?: string; params?: { requestId?: unknown } };
			if (method === "subscriptions/listen" && !ends.has(id) && ends.size < MAX_LISTENS) {
				ends.set(id, followListened(catalog, listenedUris(message), warn));
			} else if (method === "notifications/cancelled") {
				end(params?.requestId);
			}
		},
		close: (): void => [...ends.keys()].forEach(end),
	};
}

/** The resources that a `subscriptions/listen` names. */
function listenedUris(message: unknown): string[] {
	const { params } = message as { params?: { notifications?: { resourceSubscriptions?: unknown } } };
	const uris = params?.notifications?.resourceSubscriptions;
	return Array.isArray(uris) ? [...new Set(uris)].filter((uri) => typeof uri === "string").slice(0, MAX_LISTENED) : [];
}
