import type { ReadResourceResult } from "@modelcontextprotocol/client";
import { LRUCache } from "lru-cache";
import type { Server } from "../servers/server.js";

/** Resources whose contents are kept. */
const MAX_CACHED = 1_000;

/** What was read of resources, for a time, and until their server says that they have changed. */
export class ResourceCache {
	readonly #cache: LRUCache<string, ReadResourceResult> | undefined;

	/** @param ttl milliseconds; 0: nothing is kept */
	constructor(ttl: number) {
		this.#cache = ttl === 0 ? undefined : new LRUCache({ max: MAX_CACHED, ttl });
	}

	get(server: Server, uri: string): ReadResourceResult | undefined {
		return this.#cache?.get(keyOf(server, uri));
	}

	set(server: Server, uri: string, result: ReadResourceResult): void {
		this.#cache?.set(keyOf(server, uri), result);
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

function keyOf({ id }: Server, uri: string): string {
	return `${id}\0${uri}`;
}
