import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, it, type TestContext } from "node:test";
import { type Entry, isConflict, MemoryStore, type Store, type StoreError } from "xs-mcp-manager/core";
import { temporaryFolder } from "../../../host-test/support/testing.js";
import { NatsStore } from "../src/cluster/nats-store.js";
import { FileStore } from "../src/store/file-store.js";
import { NatsServer, whyNoNats } from "../testing/nats-server.js";

/** Opens a store that sees what another one of the same call writes. */
type Open = () => Promise<Store>;

/** How often each race is run. */
const TRIES = Number(process.env.XS_MCP_RACES ?? 30);

const LONG_ID = "x".repeat(6_000);

const inMemory = async (): Promise<Open> => {
	const store = new MemoryStore();
	return async () => store;
};

const inFiles = async (): Promise<Open> => {
	const folder = temporaryFolder("xs-mcp-store-");
	return async () => FileStore.open(folder);
};

const inNats = async (t: TestContext): Promise<Open> => {
	const server = await NatsServer.start(t);
	return async () => {
		const store = await NatsStore.open(await server.connect(t), "test_store", { max_bytes: 16 * 1024 * 1024 });
		t.after(() => store.close());
		return store;
	};
};

const STORES = [
	{ name: "in memory", prepare: inMemory, skip: false },
	{ name: "in files", prepare: inFiles, skip: false },
	{ name: "in NATS", prepare: inNats, skip: whyNoNats },
] as const;

const conflict = (error: Error): boolean => isConflict(error);

/** Waits until a store shows what another one has written. */
async function shows(store: Store, key: string, expected: unknown): Promise<void> {
	for (let tries = 0; ; tries += 1) {
		store.refresh(key);
		if (JSON.stringify(store.get(key)?.value) === JSON.stringify(expected)) {
			return;
		}
		assert.ok(tries < 1_000, `${key}: ${JSON.stringify(store.get(key)?.value)} instead of ${JSON.stringify(expected)}`);
		await new Promise((resolve) => setTimeout(resolve, 5));
	}
}

for (const { name, prepare, skip } of STORES) {
	describe(`a store ${name}`, { skip }, () => {
		it("returns what was written, as soon as the write has settled", async (t) => {
			const store = await (await prepare(t))();
			const value = { name: "lamp", tags: ["a", "ü"], nested: { n: 1.5, none: null } };
			const { revision } = await store.set("device/24:6f:28", value);
			assert.deepEqual(store.get("device/24:6f:28"), { key: "device/24:6f:28", value, revision });
			assert.equal(store.get("device/other"), undefined);
			const later = await store.set("device/24:6f:28", "new");
			assert.ok(later.revision > revision);
			await store.delete("device/24:6f:28");
			assert.equal(store.get("device/24:6f:28"), undefined);
			await store.delete("device/24:6f:28");
		});

		it("takes any text as a segment of a key", async (t) => {
			const open = await prepare(t);
			const store = await open();
			const keys = ["a.b", "../x", "ümlaut 1", "*", ">", "=", "", LONG_ID].map((id) => `device/${id}`);
			for (const key of keys) {
				await store.set(key, key.length);
			}
			const other = await open();
			assert.deepEqual(
				other
					.list("device/")
					.map((entry) => entry.key)
					.sort(),
				[...keys].sort(),
			);
			await store.delete(`device/${LONG_ID}`);
			await shows(other, `device/${LONG_ID}`, undefined);
		});

		it("lists entries by prefix", async (t) => {
			const store = await (await prepare(t))();
			for (const key of ["a/1", "a/b/1", "a/b/2", "ab/1", "b"]) {
				await store.set(key, key);
			}
			const keysOf = (prefix: string): string[] =>
				store
					.list(prefix)
					.map((entry) => entry.key)
					.sort();
			assert.deepEqual(keysOf("a/"), ["a/1", "a/b/1", "a/b/2"]);
			assert.deepEqual(keysOf("a/b/"), ["a/b/1", "a/b/2"]);
			assert.deepEqual(keysOf("c/"), []);
		});

		it("refuses to replace an entry that is not the expected one", async (t) => {
			const store = await (await prepare(t))();
			const first = await store.set("token/a", 1, 0);
			await assert.rejects(store.set("token/a", 2, 0), conflict);
			await store.set("token/a", 2, first.revision);
			await assert.rejects(store.set("token/a", 3, first.revision), conflict);
			await assert.rejects(store.delete("token/a", first.revision), conflict);
			assert.equal(store.get("token/a")?.value, 2);
			await store.delete("token/a", store.get("token/a")?.revision);
			await store.set("token/a", 4, 0);
			assert.equal(store.get("token/a")?.value, 4);
		});

		it("tells watchers what entries become, own changes too", async (t) => {
			const store = await (await prepare(t))();
			const seen: [string, unknown][] = [];
			const stop = store.watch("a/", (key, entry) => void seen.push([key, entry?.value]));
			await store.set("a/1", "x");
			await store.set("b/1", "x");
			await store.delete("a/1");
			stop();
			await store.set("a/2", "x");
			assert.deepEqual(seen, [
				["a/1", "x"],
				["a/1", undefined],
			]);
		});

		it("shows what another writer has changed", async (t) => {
			const open = await prepare(t);
			const [one, two] = [await open(), await open()];
			const entry = await one.set("token/a", 1, 0);
			await shows(two, "token/a", 1);
			await two.set("token/a", 2, entry.revision);
			await shows(one, "token/a", 2);
			await one.update("token/a", () => null);
			await shows(two, "token/a", undefined);
		});

		it("has one winner when several create an entry", async (t) => {
			const open = await prepare(t);
			const stores = [await open(), await open()];
			for (let at = 0; at < TRIES; at += 1) {
				const attempts = Array.from({ length: 6 }, (_, n) => (stores[n % 2] as Store).set(`alias/${at}`, n, 0));
				const results = await Promise.allSettled(attempts);
				const winners = results.filter(({ status }) => status === "fulfilled");
				assert.equal(winners.length, 1, `try ${at}`);
				const { value } = (winners[0] as PromiseFulfilledResult<Entry>).value;
				for (const store of stores) {
					await shows(store, `alias/${at}`, value);
				}
			}
		});

		it("loses no change that several make by update", async (t) => {
			const open = await prepare(t);
			const stores = [await open(), await open()];
			const count = async (store: Store): Promise<void> => {
				for (let at = 0; at < TRIES; at += 1) {
					await store.update("counter", (entry) => ((entry?.value as number | undefined) ?? 0) + 1);
				}
			};
			await Promise.all(stores.map(count));
			for (const store of stores) {
				await shows(store, "counter", 2 * TRIES);
			}
		});

		it("writes the last of several changes that may wait", async (t) => {
			const open = await prepare(t);
			const store = await open();
			for (let n = 0; n < 100; n += 1) {
				store.later("device/a", n);
				store.later("device/b", n);
			}
			store.later("device/b", undefined);
			await store.flush();
			assert.equal(store.get("device/a")?.value, 99);
			assert.equal(store.get("device/b"), undefined);
		});

		it("keeps entries when it is opened again", async (t) => {
			const open = await prepare(t);
			const store = await open();
			await store.set("device/a", { n: 1 });
			await store.set("token/a", { n: 2 }, 0);
			await store.set("token/b", { n: 3 }, 0);
			await store.update("token/b", () => null);
			const again = await open();
			assert.deepEqual(again.get("device/a")?.value, { n: 1 });
			assert.deepEqual(
				again.list("token/").map((entry) => entry.value),
				[{ n: 2 }],
			);
		});
	});
}

describe("a store in NATS", { skip: whyNoNats }, () => {
	const start = async (t: TestContext, more = "") => {
		const server = await NatsServer.start(t, more);
		const open = async (maxBytes = 1024 * 1024) => {
			const options = { reconnectTimeWait: 50, maxReconnectAttempts: -1 };
			const store = await NatsStore.open(await server.connect(t, options), "s", { max_bytes: maxBytes });
			t.after(() => store.close());
			return store;
		};
		return { server, open };
	};

	const code = (expected: string) => (error: StoreError) => error.code === expected;

	it("refuses changes at once while NATS is away, and goes on with what it had", async (t) => {
		const { server, open } = await start(t);
		const store = await open();
		await store.set("device/a", 1);
		const lost = once(store, "disconnected");
		await server.kill();
		await lost;
		assert.equal(store.isConnected, false);
		assert.equal(store.get("device/a")?.value, 1);
		await assert.rejects(store.set("device/a", 2), code("not-written"));
		store.later("device/b", "waited");
		const back = once(store, "connected");
		await server.run();
		await back;
		await store.flush();
		assert.equal(store.get("device/b")?.value, "waited");
		assert.equal(store.get("device/a")?.value, 1);
	});

	it("shows an empty store when NATS has lost its disk", async (t) => {
		const { server, open } = await start(t);
		const store = await open();
		await store.set("device/a", 1);
		await store.set("device/b", 1);
		const removed: string[] = [];
		store.watch("device/", (key, entry) => void (entry === undefined && removed.push(key)));
		const back = once(store, "connected");
		await server.loseDisk();
		await server.run();
		await back;
		assert.deepEqual(store.list("device/"), []);
		assert.deepEqual(removed.sort(), ["device/a", "device/b"]);
		await store.set("device/a", 2, 0);
		assert.equal(store.get("device/a")?.value, 2);
	});

	it("says that a change is unknown when NATS does not answer", async (t) => {
		const { server, open } = await start(t);
		const store = await open();
		server.pause();
		let written = 0;
		// The server may answer for a moment before it stops.
		const write = async (): Promise<void> => {
			for (;;) {
				written += 1;
				await store.set("device/a", written);
			}
		};
		await assert.rejects(write(), code("unknown"));
		server.resume();
		await shows(store, "device/a", written);
	});

	it("removes entries from a full bucket", async (t) => {
		const { open } = await start(t);
		const store = await open(64 * 1024);
		const text = "x".repeat(8 * 1024);
		const fill = async (): Promise<void> => {
			for (let at = 0; ; at += 1) {
				await store.set(`offers/${at}`, text);
			}
		};
		await assert.rejects(fill(), code("not-written"));
		await store.delete("offers/0");
		assert.equal(store.get("offers/0"), undefined);
	});

	it("does not count a change as made that the copy has not shown when the connection is lost", async (t) => {
		const { server } = await start(t);
		const connection = await server.connect(t);
		const report = (type: string): void =>
			(connection as unknown as { protocol: { dispatchStatus(status: object): void } }).protocol.dispatchStatus({
				type,
			});
		const store = await NatsStore.open(connection, "s", { max_bytes: 1024 * 1024 });
		const written = store.set("alias/lamp", "a");
		report("disconnect");
		await assert.rejects(written, code("unknown"));
		report("reconnect");
		await shows(store, "alias/lamp", "a");
	});
});
