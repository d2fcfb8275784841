import { isObject } from "../../../src/text/is-object.js";
import type { Catalog } from "./catalog.js";

/** Resources that a client may name in one `subscriptions/listen`. */
const MAX_LISTENED = 1_000;

/**
 * Has a server tell of updates of a resource. The gateway itself tells of the states of servers.
 *
 * Rejects with the SDK's ProtocolError if the server does not take it, and with ServerError if it does not answer.
 *
 * @returns a function that ends it; undefined if there is no such resource
 */
export async function follow(catalog: Catalog, uri: string): Promise<(() => void) | undefined> {
	if (catalog.findState(uri) !== undefined) {
		return () => {};
	}
	const found = catalog.findResource(uri);
	return await found?.server.subscriptions.add(found.uri);
}

/**
 * Follows the resources that a `subscriptions/listen` (2026-07-28) names, as long as its stream is open. The SDK serves the
 * stream itself, and tells the client only of what it has asked for.
 *
 * @param warn is told why a resource is not followed: the client's request has been accepted by then
 * @returns a function that ends it
 */
export function followListened(catalog: Catalog, message: unknown, warn: (message: string) => void): () => void {
	const following = listenedUris(message).map((uri) =>
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

/** Whether a message opens a stream of changes. */
export function isListen(message: unknown): boolean {
	return isObject(message) && message.method === "subscriptions/listen";
}

function listenedUris(message: unknown): string[] {
	const { params } = message as { params?: { notifications?: { resourceSubscriptions?: unknown } } };
	const uris = params?.notifications?.resourceSubscriptions;
	return Array.isArray(uris) ? [...new Set(uris)].filter((uri) => typeof uri === "string").slice(0, MAX_LISTENED) : [];
}
