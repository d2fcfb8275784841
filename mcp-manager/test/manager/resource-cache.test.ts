import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Server } from "../../src/core/server.js";
import { ResourceCache } from "../../src/manager/resource-cache.js";

const MB = 1024 * 1024;

/** A server that has the resources `a`, `b`, … and counts who follows them. */
function resourceServer() {
	const followed = new Set<string>();
	const subscriptions = {
		add: async (uri: string) => {
			followed.add(uri);
			return () => followed.delete(uri);
		},
	};
	const server = { id: "files", connection: { canSubscribe: true }, subscriptions } as unknown as Server;
	return { server, followed };
}

const contents = (uri: string, length: number) => ({ contents: [{ uri, text: "x".repeat(length) }] });

describe("the contents of resources that are kept", () => {
	it("are limited together: those read the longest time ago are dropped, and no longer followed", async () => {
		const { server, followed } = resourceServer();
		const cache = new ResourceCache(60_000);
		const uris = Array.from({ length: 12 }, (_, index) => `file:${index}`);
		for (const uri of uris) {
			cache.set(server, uri, contents(uri, 6 * MB));
		}
		const kept = uris.filter((uri) => cache.get(server, uri) !== undefined);
		assert.ok(kept.length < 12 && kept.includes("file:11"), kept.join());
		await new Promise((resolve) => setImmediate(resolve));
		assert.deepEqual([...followed], kept);
		cache.clear();
	});

	it("do not include contents that are longer than all may be", async () => {
		const { server, followed } = resourceServer();
		const cache = new ResourceCache(60_000);
		cache.set(server, "file:a", contents("file:a", 1));
		cache.set(server, "file:a", contents("file:a", 65 * MB));
		assert.equal(cache.get(server, "file:a"), undefined);
		await new Promise((resolve) => setImmediate(resolve));
		assert.equal(followed.size, 0);
	});
});
