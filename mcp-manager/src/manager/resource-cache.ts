import { ProtocolError, ProtocolErrorCode, type ReadResourceResult } from "@modelcontextprotocol/client";
import type { Server } from "../core/server.js";
import { expectComplete } from "./asking-person.js";
import { McpError } from "./mcp-error.js";

/** Resources whose contents are kept, and characters of all of them. */
const MAX_CACHED = 1_000;
const MAX_CHARACTERS = 64 * 1024 * 1024;

interface Kept {
	readonly result: ReadResourceResult;
	/** In characters. */
	readonly size: number;
	/** Time of expiry by `performance.now()`, in milliseconds. */
	readonly expires: number;
	/** Ends the subscription. Never rejects. */
	readonly stopFollowing: Promise<() => void>;
}

/**
 * The contents of resources, for a time, and until their server says that they have changed. Not lru-cache: the package is
 * larger than this one.
 */
export class ResourceCache {
	readonly #ttl: number;
	/** Contents by server and URI; those read last come last. */
	readonly #kept = new Map<string, Kept>();
	#characters = 0;

	/** @param ttl milliseconds; 0: nothing is kept */
	constructor(ttl: number) {
		this.#ttl = ttl;
	}

	get(server: Server, uri: string): ReadResourceResult | undefined {
		const key = keyOf(server, uri);
		const kept = this.#kept.get(key);
		if (kept === undefined || kept.expires <= performance.now()) {
			this.#drop(key);
			return undefined;
		}
		this.#kept.delete(key);
		this.#kept.set(key, kept);
		return kept.result;
	}

	/** Keeps contents, and subscribes to their updates. If the server does not support that, they are kept for the time. */
	set(server: Server, uri: string, result: ReadResourceResult): void {
		const key = keyOf(server, uri);
		const size = result.contents.reduce((sum, item) => sum + ("text" in item ? item.text : item.blob).length, 0);
		this.#drop(key);
		if (this.#ttl === 0 || size > MAX_CHARACTERS) {
			return;
		}
		const ignore = (): void => {};
		const following = server.connection?.canSubscribe ? server.subscriptions.add(uri) : Promise.resolve(ignore);
		const stopFollowing = following.catch(() => ignore);
		this.#kept.set(key, { result, size, expires: performance.now() + this.#ttl, stopFollowing });
		this.#characters += size;
		for (const oldest of this.#kept.keys()) {
			if (this.#kept.size <= MAX_CACHED && this.#characters <= MAX_CHARACTERS) {
				return;
			}
			this.#drop(oldest);
		}
	}

	/** Forgets everything. */
	clear(): void {
		this.#dropAll("");
	}

	/** A server has sent a notification. */
	notified(server: Server, method: string, params: Readonly<Record<string, unknown>>): void {
		if (method === "notifications/resources/updated") {
			this.#drop(keyOf(server, String(params.uri)));
		} else if (method === "notifications/resources/list_changed") {
			this.#dropAll(keyOf(server, ""));
		}
	}

	#dropAll(prefix: string): void {
		for (const key of [...this.#kept.keys()].filter((each) => each.startsWith(prefix))) {
			this.#drop(key);
		}
	}

	#drop(key: string): void {
		const kept = this.#kept.get(key);
		if (kept !== undefined) {
			this.#kept.delete(key);
			this.#characters -= kept.size;
			void kept.stopFollowing.then((stop) => stop());
		}
	}
}

function keyOf({ id }: Server, uri: string): string {
	return `${id}\0${uri}`;
}

/** Reads a resource from the cache, unless `fresh`, or else from its server. */
export async function readResource(
	server: Server,
	uri: string,
	cache: ResourceCache,
	fresh: boolean,
): Promise<ReadResourceResult> {
	const cached = fresh ? undefined : cache.get(server, uri);
	if (cached !== undefined) {
		return cached;
	}
	const answer = await server.request({ method: "resources/read", params: { uri } }).catch((error: unknown) => {
		throw isUnknownResource(error, server, uri)
			? new McpError("RESOURCE_NOT_FOUND", `Resource '${uri}' not found: ${(error as Error).message}`)
			: error;
	});
	const result = expectComplete(answer);
	cache.set(server, uri, result);
	return result;
}

/** Many servers answer −32602 for an unknown resource. If they list it, something else is wrong. */
function isUnknownResource(error: unknown, { offers }: Server, uri: string): boolean {
	return (
		ProtocolError.isInstance(error) &&
		error.code === ProtocolErrorCode.InvalidParams &&
		!offers.resources.some((resource) => resource.uri === uri)
	);
}
