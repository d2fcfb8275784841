import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Server } from "../src/core/server.js";
import { makeResourceCache } from "../src/manager/resource-cache.js";

const MB = 1024 * 1024;

/** A server whose resources have a length, which counts who follows them and how often they are read. */
function resourceServer(length: () => number) {
	const followed = new Set<string>();
	const read: string[] = [];
	const subscriptions = {
		add: async (uri: string) => {
			followed.add(uri);
			return () => followed.delete(uri);
		},
	};
	const request = async ({ params: { uri } }: { readonly params: { readonly uri: string } }) => {
		read.push(uri);
		return { contents: [{ uri, text: "x".repeat(length()) }] };
	};
	const server = { id: "files", connection: { canSubscribe: true }, subscriptions, request } as unknown as Server;
	return { server, followed, read, cache: makeResourceCache(60_000) };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("the contents of resources that are kept", () => {
	it("are limited together: those read the longest time ago are dropped, and no longer followed", async () => {
		const { server, followed, read, cache } = resourceServer(() => 6 * MB);
		for (let at = 0; at < 12; at += 1) {
			await cache.read(server, `file:${at}`);
		}
		await turn();
		const kept = [...followed];
		assert.ok(kept.length < 12 && kept.includes("file:11"), kept.join());
		for (const uri of kept) {
			await cache.read(server, uri);
		}
		assert.equal(read.length, 12);
		cache.clear();
	});

	it("may have a time of any length", async () => {
		const { server, read } = resourceServer(() => 1);
		for (const ttl of [0.5, 1e-9, -1, Number.POSITIVE_INFINITY]) {
			await makeResourceCache(ttl).read(server, "file:a");
		}
		const forever = makeResourceCache(Number.POSITIVE_INFINITY);
		await forever.read(server, "file:b");
		await forever.read(server, "file:b");
		assert.deepEqual(read, ["file:a", "file:a", "file:a", "file:a", "file:b"]);
	});

	it("do not include contents that are longer than all may be", async () => {
		let length = 1;
		const { server, followed, read, cache } = resourceServer(() => length);
		await cache.read(server, "file:a");
		length = 65 * MB;
		for (const isFresh of [true, false]) {
			await cache.read(server, "file:a", isFresh);
		}
		await turn();
		assert.deepEqual([read.length, followed.size], [3, 0]);
	});
});
