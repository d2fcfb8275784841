import type { ReadResourceResult } from "@modelcontextprotocol/client";
import { LRUCache } from "lru-cache";
import type { Server } from "../core/server.js";

/** Resources whose contents are kept, and characters of all of them. */
const MAX_CACHED = 1_000;
const MAX_CHARACTERS = 64 * 1024 * 1024;

interface Kept {
	readonly result: ReadResourceResult;
	/** Ends the subscription. Never rejects. */
	readonly stopFollowing: Promise<() => void>;
}

/** What was read of resources, for a time, and until their server says that they have changed. */
export class ResourceCache {
	readonly #cache: LRUCache<string, Kept> | undefined;

	/** @param ttl milliseconds; 0: nothing is kept */
	constructor(ttl: number) {
		this.#cache =
			ttl === 0
				? undefined
				: new LRUCache({
						max: MAX_CACHED,
						maxSize: MAX_CHARACTERS,
						sizeCalculation: ({ result }) => sizeOf(result),
						ttl,
						dispose: ({ stopFollowing }) => void stopFollowing.then((stop) => stop()),
					});
	}

	get(server: Server, uri: string): ReadResourceResult | undefined {
		return this.#cache?.get(keyOf(server, uri))?.result;
	}

	/** Keeps what was read, and asks the server to tell when it changes. A server that cannot is believed for the time. */
	set(server: Server, uri: string, result: ReadResourceResult): void {
		if (sizeOf(result) > MAX_CHARACTERS) {
			this.#cache?.delete(keyOf(server, uri));
		} else if (this.#cache !== undefined) {
			const ignore = (): void => {};
			const following = server.session?.canSubscribe ? server.subscriptions.add(uri) : Promise.resolve(ignore);
			this.#cache.set(keyOf(server, uri), { result, stopFollowing: following.catch(() => ignore) });
		}
	}

	/** Forgets everything. */
	clear(): void {
		this.#cache?.clear();
	}

	/** A server has sent a notification. */
	notified(server: Server, method: string, params: Readonly<Record<string, unknown>>): void {
		if (method === "notifications/resources/updated") {
			this.#cache?.delete(keyOf(server, String(params.uri)));
		} else if (method === "notifications/resources/list_changed") {
			for (const key of this.#cache?.keys() ?? []) {
				if (key.startsWith(keyOf(server, ""))) {
					this.#cache?.delete(key);
				}
			}
		}
	}
}

/** In characters; never 0. */
function sizeOf({ contents }: ReadResourceResult): number {
	return contents.reduce((sum, item) => sum + ("text" in item ? item.text : item.blob).length, 1);
}

function keyOf({ id }: Server, uri: string): string {
	return `${id}\0${uri}`;
}
