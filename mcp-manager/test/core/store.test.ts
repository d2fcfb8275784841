import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { temporaryFolder } from "../../../host-test/support/temporary-folder.js";
import { NO_OFFERS } from "../../src/core/offers.js";
import type { ServerRecord } from "../../src/core/server.js";
import { ServerStore } from "../../src/core/store.js";

/** A store in a folder of its own, and its warnings. */
function open(_t: TestContext, path?: string) {
	const folder = temporaryFolder("xs-mcp-store-");
	const warnings: string[] = [];
	const store = new ServerStore(path ?? folder, (message) => warnings.push(message));
	return { store, folder, warnings };
}

const record = (id: string, lastSeen = 0): ServerRecord => ({
	id,
	alias: id,
	board: { name: "lamp", version: "1" },
	offers: NO_OFFERS,
	lastSeen,
});

describe("the records of servers on disk", () => {
	it("are read as they were written, each from a file of its own", async (t) => {
		const { store, folder } = open(t);
		const records = [record("a"), { ...record("b", 8.64e15), tags: ["kitchen"] }];
		await Promise.all(records.map((each) => store.save(each)));
		assert.equal(readdirSync(folder).length, 2);
		writeFileSync(join(folder, "notes.txt"), "not a record");
		const loaded = await store.load();
		assert.deepEqual(
			loaded.sort((a, b) => a.lastSeen - b.lastSeen),
			records,
		);
	});

	it("are written once for several changes in a turn, as they are in the end, and again for later ones", async (t) => {
		const { store, folder } = open(t);
		const writings = [1, 2, 3].map((lastSeen) => store.save(record("a", lastSeen)));
		assert.equal(new Set(writings).size, 1);
		await store.flush();
		const [name = ""] = readdirSync(folder);
		assert.equal(JSON.parse(readFileSync(join(folder, name), "utf8")).lastSeen, 3);
		const later = store.save(record("a", 4));
		assert.notEqual(later, writings[0]);
		await later;
		assert.equal((await store.load())[0]?.lastSeen, 4);
	});

	it("are gone once they were removed, even in the turn in which they were saved", async (t) => {
		const { store, folder } = open(t);
		await store.save(record("a"));
		await store.remove("a");
		void store.save(record("b"));
		void store.remove("b");
		await store.remove("c");
		await store.flush();
		assert.deepEqual(readdirSync(folder), []);
	});

	it("of earlier versions have only tools", async (t) => {
		const { store, folder } = open(t);
		const { offers: _, ...rest } = record("a");
		writeFileSync(join(folder, "a.json"), JSON.stringify({ ...rest, tools: [] }));
		assert.deepEqual(await store.load(), [record("a")]);
	});

	it("of earlier versions are replaced in their files", async (t) => {
		const { store, folder } = open(t);
		const name = "ca978112ca1bbdcafac231b39a23dc4d.json";
		writeFileSync(join(folder, name), JSON.stringify({ ...record("a"), tools: [] }));
		await store.save(record("a", 5));
		assert.deepEqual(readdirSync(folder), [name]);
		assert.deepEqual(await store.load(), [record("a", 5)]);
	});

	it("that cannot be written are warned of, and whoever waits for that learns of it", async (t) => {
		const { folder } = open(t);
		writeFileSync(join(folder, "file"), "");
		const { store, warnings } = open(t, join(folder, "file"));
		await assert.rejects(store.save(record("a")), { code: "ENOTDIR" });
		assert.match(warnings.join("\n"), /^a: cannot save: ENOTDIR/);
	});
});
