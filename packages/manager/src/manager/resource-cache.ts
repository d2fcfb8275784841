import { ProtocolError, ProtocolErrorCode, type ReadResourceResult } from "@modelcontextprotocol/client";
import type { Server } from "../core/server.js";
import { expectComplete } from "./asking-person.js";
import { McpError } from "./mcp-types.js";

/** Resources whose contents are kept, and characters of all of them. */
const MAX_CACHED = 1_000;
const MAX_CHARACTERS = 64 * 1024 * 1024;

interface Kept {
	readonly result: ReadResourceResult;
	readonly size: number;
	/** Time of expiry by `performance.now()`, in milliseconds. */
	readonly expires: number;
	/** Ends the subscription. Never rejects. */
	readonly stopFollowing: Promise<() => void>;
}

/**
 * Makes a cache that reads resources, and keeps their contents for a time, and until their server says that they have changed. Not
 * lru-cache: the package is larger than this one.
 *
 * @param ttl milliseconds; 0: nothing is kept
 */
export function makeResourceCache(ttl: number) {
	/** Contents by server and URI; those read last come last. */
	const cache = new Map<string, Kept>();
	let characters = 0;

	const drop = (key: string): void => {
		const kept = cache.get(key);
		if (kept !== undefined) {
			cache.delete(key);
			characters -= kept.size;
			void kept.stopFollowing.then((stop) => stop());
		}
	};
	const dropAll = (prefix: string): void => [...cache.keys()].filter((key) => key.startsWith(prefix)).forEach(drop);

	/** Keeps contents, and subscribes to their updates. If the server does not support that, they are kept for the time. */
	const keep = (key: string, server: Server, uri: string, result: ReadResourceResult): void => {
		const size = result.contents.reduce((sum, item) => sum + ("text" in item ? item.text : item.blob).length, 0);
		drop(key);
		if (ttl === 0 || size > MAX_CHARACTERS) {
			return;
		}
		const ignore = (): void => {};
		const following = server.connection?.canSubscribe ? server.subscriptions.add(uri) : Promise.resolve(ignore);
		const stopFollowing = following.catch(() => ignore);
		cache.set(key, { result, size, expires: performance.now() + ttl, stopFollowing });
		characters += size;
		for (const oldest of cache.keys()) {
			if (cache.size <= MAX_CACHED && characters <= MAX_CHARACTERS) {
				return;
			}
			drop(oldest);
		}
	};

	return {
		/** Returns the contents that are kept, unless `isFresh`, or else those that the server sends. */
		async read(server: Server, uri: string, isFresh = false): Promise<ReadResourceResult> {
			const key = `${server.id}\0${uri}`;
			const kept = cache.get(key);
			if (kept !== undefined && !isFresh && kept.expires > performance.now()) {
				cache.delete(key);
				cache.set(key, kept);
				return kept.result;
			}
			const answer = await server.request({ method: "resources/read", params: { uri } }).catch((error: unknown) => {
				// Many servers answer −32602 for an unknown resource. If they list it, something else is wrong.
				const isInvalid = ProtocolError.isInstance(error) && error.code === ProtocolErrorCode.InvalidParams;
				throw isInvalid && !server.offers.resources.some((resource) => resource.uri === uri)
					? new McpError("RESOURCE_NOT_FOUND", `Resource '${uri}' not found: ${error.message}`)
					: error;
			});
			const result = expectComplete(answer);
			keep(key, server, uri, result);
			return result;
		},
		clear: () => dropAll(""),
		/** Drops what a server has reported as changed. */
		notified({ id }: Server, method: string, params: Readonly<Record<string, unknown>>): void {
			if (method === "notifications/resources/updated") {
				drop(`${id}\0${params.uri}`);
			} else if (method === "notifications/resources/list_changed") {
				dropAll(`${id}\0`);
			}
		},
	};
}
