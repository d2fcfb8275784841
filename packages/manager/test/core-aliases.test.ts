import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import fc from "fast-check";
import { MemoryStore, type Server, ServerRegistry, StoreError } from "xs-mcp-manager/core";
import { testWith, until } from "../../../host-test/support/testing.js";
import { ALIAS, Aliases } from "../src/core/aliases.js";
import { NO_OFFERS } from "../src/core/offers.js";
import type { ServerSettings } from "../src/core/server.js";
import { FakeConnection } from "../testing/fake-connection.js";

describe("the alias of a device", () => {
	it("is its board's name and the end of its MAC address", () => {
		assert.equal(new Aliases().assign("AA:BB:CC:0d:0e:0F", "M5Stack CoreS3", undefined), "m5stack_cores3_0d0e0f");
	});

	it("ends in twelve digits of a hash if another device of its board has the same end", () => {
		const aliases = new Aliases();
		assert.equal(aliases.assign("11:22:33:44:55:66", "lamp", undefined), "lamp_445566");
		const other = aliases.assign("aa:bb:cc:44:55:66", "lamp", undefined);
		assert.match(other, /^lamp_[0-9a-f]{12}$/);
		assert.equal(aliases.assign("aa:bb:cc:44:55:66", "lamp", other), other);
	});

	it("stays while it is not stored", () => {
		assert.equal(new Aliases().assign("aa:bb:cc:dd:ee:ff", "new name", "old_ddeeff"), "old_ddeeff");
	});

	it("is made again if its file was edited by hand, and it could not be called", () => {
		for (const edited of ["__x", "x__y", "Kitchen", ""]) {
			assert.equal(new Aliases().assign("aa:bb:cc:dd:ee:ff", "lamp", edited), "lamp_ddeeff");
		}
	});

	it("is the one that somebody chose, even if another device had it", () => {
		const aliases = new Aliases(undefined, new Map([["aa:bb:cc:dd:ee:ff", "kitchen"]]));
		assert.equal(aliases.assign("11:22:33:44:55:66", "lamp", "kitchen"), "lamp_445566");
		assert.equal(aliases.assign("aa:bb:cc:dd:ee:ff", "lamp", "lamp_ddeeff"), "kitchen");
		assert.equal(aliases.owner("kitchen"), "aa:bb:cc:dd:ee:ff");
	});

	it("names the device when it cannot be used", () => {
		for (const alias of ["", "Kitchen", "a__b", "a-_b", "_a", "a-", "a.b", "x".repeat(25)]) {
			assert.throws(() => new Aliases(undefined, new Map([["dev-1", alias]])), {
				name: "RangeError",
				message: /dev-1/,
			});
		}
		const twice = new Map([
			["dev-1", "lamp"],
			["dev-2", "lamp"],
		]);
		assert.throws(() => new Aliases(undefined, twice), /lamp: already assigned to dev-1/);
	});

	it("is free again once its device was removed or renamed, unless somebody chose it", async () => {
		const store = new MemoryStore();
		const aliases = new Aliases(store, new Map([["dev-1", "kitchen"]]));
		store.watch(ALIAS, (key, entry) => {
			for (const id of aliases.noteEntry(key, entry)) {
				aliases.assign(id, "lamp", lamp);
			}
		});
		const rename = (id: string, alias: string) => aliases.rename(id, alias, () => true);
		aliases.release("dev-1", "kitchen");
		assert.equal(aliases.owner("kitchen"), "dev-1");
		await assert.rejects(rename("dev-1", "hall"), /the setting aliases fixes it to kitchen/);
		const device = "11:22:33:44:55:66";
		const lamp = aliases.assign(device, "lamp");
		await aliases.keep(device, lamp);
		await assert.rejects(rename("dev-2", lamp), /alias lamp_445566: already assigned to 11:/);
		await rename(device, "hall");
		assert.deepEqual([aliases.owner(lamp), aliases.owner("hall")], [undefined, device]);
		await aliases.forget(device);
		assert.deepEqual(store.list(ALIAS), []);
	});

	it("stays with a device that was forgotten and is here again, if its entry could not be removed", async () => {
		class CutOff extends MemoryStore {
			override async delete(): Promise<void> {
				throw new StoreError("not-written", "the store cannot be reached");
			}
		}
		const store = new CutOff();
		const aliases = new Aliases(store);
		store.watch(ALIAS, (key, entry) => aliases.noteEntry(key, entry));
		const device = "11:22:33:44:55:66";
		await aliases.keep(device, "lamp");
		await aliases.forget(device);
		await aliases.keep(device, "lamp");
		assert.equal(store.list(ALIAS).length, 1);
	});

	it("is one that somebody has chosen, although a default one was stored later without knowing it", async () => {
		for (const order of [
			["chosen", "default"],
			["default", "chosen"],
		] as const) {
			const store = new MemoryStore();
			for (const kind of order) {
				await store.set(`alias/${kind}`, { device: "dev-1", ...(kind === "default" && { isDefault: true }) });
			}
			assert.equal(new Aliases(store).assign("dev-1", "lamp"), "chosen");
		}
	});

	it("is the newest one in the store, and the one before if that is removed", async () => {
		const store = new MemoryStore();
		await store.set("alias/second", { device: "dev-1" });
		await store.set("alias/first", { device: "dev-1" });
		const aliases = new Aliases(store);
		assert.equal(aliases.assign("dev-1", "lamp"), "first");
		await store.delete("alias/first");
		aliases.noteEntry("alias/first", undefined);
		assert.equal(aliases.assign("dev-1", "lamp", "first"), "second");
	});

	it("is that of today, although the entry that it replaces counted more", async () => {
		const store = new MemoryStore();
		await store.set("alias/first", { device: "dev-1" });
		const aliases = new Aliases(store);
		// A store that was made anew: every gateway has stored a default one.
		for (const key of ["alias/first", "alias/second"]) {
			aliases.noteEntry(key, await store.set(key, { device: "dev-1", isDefault: true }));
		}
		assert.equal(aliases.assign("dev-1", "lamp", "first"), "second");
	});

	it("is taken from a device that was forgotten", async () => {
		const store = new MemoryStore();
		await store.set("alias/hall", { device: "gone" });
		const aliases = new Aliases(store);
		await aliases.rename("dev-1", "hall", (id) => id !== "gone");
		assert.deepEqual(store.get("alias/hall")?.value, { device: "dev-1" });
	});

	it("is of 24 characters at most, also with twelve digits", () => {
		const aliases = new Aliases();
		const board = "a board with a very long name";
		const assigned = ["11:22:33:44:55:66", "aa:bb:cc:44:55:66"].map((id) => aliases.assign(id, board, undefined));
		const lengths = assigned.map(({ length }) => length);
		assert.deepEqual(lengths, [24, 24]);
	});

	it("is unique, whatever the boards and ids are", () => {
		const board = fc.oneof(fc.constantFrom("lamp", "ランプ", ""), fc.string());
		const id = fc.oneof(fc.stringMatching(/^[0-9a-f]{2}:00:00:00:00:01$/), fc.string());
		fc.assert(
			fc.property(fc.uniqueArray(fc.tuple(id, board), { selector: ([id]) => id }), (devices) => {
				const aliases = new Aliases();
				const assigned = devices.map(([id, board]) => aliases.assign(id, board, undefined));
				assert.equal(new Set(assigned).size, devices.length);
				for (const alias of assigned) {
					assert.doesNotThrow(() => new Aliases(undefined, new Map([["dev", alias]])));
				}
			}),
		);
	});
});

const settings = (alias: string): ServerSettings => ({
	alias,
	callTimeout: 1_000,
	offlineWait: 1_000,
	callsPerServer: 1,
	wake: () => Promise.reject(new Error("not in this test")),
	offers: () => true,
});

/** Opens a registry that is closed with its test. */
async function directory(t: TestContext, store = new MemoryStore()): Promise<ServerRegistry> {
	const servers = new ServerRegistry({ store });
	t.after(() => servers.close());
	return servers;
}

const itDirectory = testWith(directory);

/** Connects a configured server. */
function connect(servers: ServerRegistry, id: string): Server {
	servers.connect(new FakeConnection([], { id, configured: true }));
	return servers.find(id) ?? assert.fail();
}

describe("the alias of a configured server", () => {
	const ids = ["Files", "files", "FILES"];

	it("is given up, and free, once another server wants the same", () => {
		const aliases = new Aliases();
		assert.deepEqual(aliases.claim("Files", "files", false), { alias: "files", loser: undefined });
		assert.deepEqual(aliases.claim("Files", "files", false), { alias: "files", loser: undefined });
		const { alias, loser } = aliases.claim("Files", "files", true);
		assert.match(alias, /^files_[0-9a-f]{6}$/);
		assert.deepEqual([loser, aliases.owner("files"), aliases.owner(alias)], [undefined, undefined, "Files"]);
	});

	it("does not replace one that somebody chose for a device", () => {
		const aliases = new Aliases(undefined, new Map([["dev-1", "files"]]));
		const { alias, loser } = aliases.claim("files", "files", false);
		assert.match(alias, /^files_[0-9a-f]{6}$/);
		assert.deepEqual([loser, aliases.owner("files")], [undefined, "dev-1"]);
	});

	itDirectory("is free again once the server is no longer configured", async (servers) => {
		for (let times = 0; times < 2; times += 1) {
			servers.configure("files", settings("files"));
			servers.unconfigure("files");
		}
		assert.equal(servers.find("files"), undefined);
	});

	itDirectory("cannot be configured twice, and is of no device that can be renamed or tagged", async (servers) => {
		servers.configure("files", settings("files"));
		assert.throws(() => servers.configure("files", settings("files")), /id files: already in use/);
		const server = connect(servers, "files");
		await assert.rejects(servers.edit(server.id, { alias: "notes" }), /derived from its configured id/);
		await assert.rejects(servers.edit(server.id, { tags: ["a"] }), /only devices have tags/);
	});

	it("does not depend on who is configured or connected first", async (t) => {
		const found: string[][] = [];
		for (const order of [ids, [...ids].reverse()]) {
			const servers = await directory(t);
			for (const id of order) {
				servers.configure(id, settings("files"));
			}
			found.push(ids.map((id) => connect(servers, id).alias));
		}
		assert.deepEqual(found[0], found[1]);
		assert.equal(found[0]?.[1], "files", "its id is its alias");
		assert.equal(new Set(found[0]).size, 3);
		assert.match(found[0]?.[0] ?? "", /^files_[0-9a-f]{6}$/);
	});

	itDirectory("changes while the server is online, once another one wants the same", async (servers) => {
		servers.configure("Files", settings("files"));
		const server = connect(servers, "Files");
		assert.equal(servers.find("files"), server);
		servers.configure("files", settings("files"));
		assert.match(server.alias, /^files_[0-9a-f]{6}$/);
		assert.deepEqual([servers.find(server.alias), servers.find("files")], [server, undefined]);
	});

	it("is taken from a device, which gets another until it is free again; a device with its id is forgotten", async (t) => {
		const store = new MemoryStore();
		const id = "aa:bb:cc:00:00:01";
		await store.set("offers/none", NO_OFFERS);
		for (const [device, alias] of [
			[id, "notes"],
			["files", "hall"],
		]) {
			await store.set(`alias/${alias}`, { device });
			await store.set(`device/${device}`, { board: { name: "files", version: "1" }, offers: "none", lastSeen: 1 });
		}
		const servers = await directory(t, store);
		const device = servers.find("notes");
		assert.equal(device?.id, id);
		servers.configure("notes", settings("notes"));
		servers.configure("files", settings("files"));
		assert.equal(connect(servers, "notes").alias, "notes");
		assert.equal(device?.alias, "files_000001");
		await assert.rejects(servers.edit(id, { alias: "notes" }), /alias notes: already assigned to notes/);
		assert.equal(servers.find("hall"), undefined, "the device with its id is no longer known");
		assert.equal(connect(servers, "files").alias, "files");
		await until(() => store.get("device/files") === undefined && store.list(ALIAS).length === 1, "it is not stored");
		servers.unconfigure("notes");
		assert.equal(device?.alias, "notes");
	});
});
