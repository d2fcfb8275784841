import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, it, type TestContext } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import type { Bus } from "xs-mcp-gateway/bus";
import { RemoteConnection } from "xs-mcp-gateway/remote-connection";
import { LAMP, REBOOT, SET_VOLUME, startGateway, startWithDevice, WireDevice } from "xs-mcp-gateway/testing/gateway";
import { MemoryStore, ServerRegistry, type ServerTool, StoreError } from "xs-mcp-manager/core";
import { testWith, until } from "../../../host-test/support/testing.js";

/** A store that can be made to refuse or to hold changes, and counts them. */
class TestStore extends MemoryStore {
	refuses = false;
	/** Changes of lists are not answered in time. */
	forgetsLists = false;
	changes = 0;
	#held: Promise<void> | undefined;
	#room = "";

	/** Holds what is written to a room. Returns what ends it, perhaps by an error. */
	hold(room: string): (error?: StoreError) => void {
		let end = (_error?: StoreError): void => {};
		this.#room = room;
		this.#held = new Promise((resolve, reject) => {
			end = (error) => {
				this.#room = "";
				return error === undefined ? resolve() : reject(error);
			};
		});
		return end;
	}

	override async set(...args: Parameters<MemoryStore["set"]>): ReturnType<MemoryStore["set"]> {
		this.changes += 1;
		if (this.refuses) {
			throw new StoreError("not-written", "the disk is full");
		}
		if (this.forgetsLists && args[0].startsWith("offers/")) {
			throw new StoreError("unknown", "timeout");
		}
		if (args[0].startsWith(`${this.#room}/`)) {
			await this.#held;
		}
		return await super.set(...args);
	}
}

/** A gateway with a store, and a device that is online and stored. */
async function start(t: TestContext, options: Parameters<typeof startGateway>[1] = {}) {
	const store = new TestStore();
	const { side, device } = await startWithDevice(t, { store, ...options });
	await until(() => store.get(`device/${LAMP}`) !== undefined, "its record is stored");
	return { store, side, device, servers: side.gateway.servers };
}

const readValue = <Value>(store: MemoryStore, key: string): Value => store.get(key)?.value as Value;

const toolsIn = (store: MemoryStore): number => {
	const { offers } = readValue<{ offers: string }>(store, `device/${LAMP}`);
	return readValue<{ tools: object[] }>(store, `offers/${offers}`).tools.length;
};

const itStarted = testWith(start);
const itWithDevice = testWith(startWithDevice);

describe("the servers that the gateway knows", () => {
	itStarted("are stored once their lists are read, while they are online", async ({ store, device }) => {
		assert.equal(toolsIn(store), 2);
		device.changeTools([SET_VOLUME]);
		await until(() => toolsIn(store) === 1, "its new list is stored");
	});

	itStarted("are not written again if they list what they did before", async ({ store, device, servers }) => {
		const { changes } = store;
		device.changeTools([SET_VOLUME, REBOOT]);
		await once(servers, "notification");
		await servers.find(LAMP)?.call(SET_VOLUME as ServerTool, { volume: 1 }, { principal: "somebody" });
		for (let turns = 0; turns < 5; turns += 1) {
			await turn();
		}
		assert.equal(store.changes, changes);
	});

	itStarted("change only what can be stored", async ({ store, servers }) => {
		const server = await servers.edit(LAMP, { alias: "kitchen", tags: ["upstairs"] });
		assert.deepEqual(store.get("alias/kitchen")?.value, { device: LAMP });
		await assert.rejects(servers.edit(LAMP, { alias: "hall", tags: ["not/a tag"] }), RangeError);
		store.refuses = true;
		await assert.rejects(servers.edit(LAMP, { alias: "hall", tags: [] }), { code: "not-written" });
		assert.deepEqual([server?.alias, server?.tags, servers.find("hall")], ["kitchen", ["upstairs"], undefined]);
		store.refuses = false;
		await servers.edit(LAMP, { alias: "hall" });
		assert.deepEqual([server?.alias, server?.tags, servers.find("kitchen")], ["hall", ["upstairs"], undefined]);
	});

	itStarted("store the last of several edits at the same time", async ({ store, servers }) => {
		await Promise.all(["one", "two", "three"].map((alias) => servers.edit(LAMP, { alias, tags: [alias] })));
		const aliases = store.list("alias/").map(({ key }) => key);
		assert.deepEqual([aliases, servers.find(LAMP)?.tags, servers.find("two")], [["alias/three"], ["three"], undefined]);
	});

	it("get an alias that another gateway has not given to another device meanwhile", async (t) => {
		const { store, side, servers } = await start(t);
		const other = "aa:bb:cc:00:00:02";
		await WireDevice.connect(t, side, { id: other });
		await until(() => store.get(`device/${other}`) !== undefined, "the other one is stored");
		const elsewhere = new ServerRegistry({ store });
		t.after(() => elsewhere.close());
		const edits = await Promise.allSettled([
			servers.edit(LAMP, { alias: "desk" }),
			elsewhere.edit(other, { alias: "desk" }),
		]);
		const statuses = edits.map(({ status }) => status);
		assert.deepEqual(statuses, ["fulfilled", "rejected"]);
		assert.deepEqual([servers.find("desk")?.id, elsewhere.find("desk")?.id], [LAMP, LAMP]);
	});

	it("are named anew if another gateway stores their alias for another device first", async (t) => {
		const store = new TestStore();
		store.refuses = true;
		const { side } = await startWithDevice(t, { store });
		const { servers } = side.gateway;
		assert.equal(servers.find("lamp_000001")?.id, LAMP);
		store.refuses = false;
		await store.set("alias/lamp_000001", { device: "another" });
		assert.match(servers.find(LAMP)?.alias ?? "", /^lamp_[0-9a-f]{12}$/);
		await until(() => store.get(`alias/${servers.find(LAMP)?.alias}`) !== undefined, "the other alias is stored");
	});

	it("keep an alias that another device was given elsewhere, but may not have here", async (t) => {
		const other = "aa:bb:cc:00:00:02";
		const { store, side, servers } = await start(t, { aliases: new Map([[other, "desk"]]) });
		await WireDevice.connect(t, side, { id: other });
		await store.set("alias/between", { device: LAMP });
		await store.set("alias/lamp_000001", { device: other });
		await store.set("alias/desk", { device: LAMP });
		assert.match(servers.find(LAMP)?.alias ?? "", /^between$/);
		assert.equal(servers.find("desk")?.id, other);
	});

	it("follow what another gateway stores: alias, tags, lists, and that they are forgotten", async (t) => {
		const { store, device, servers } = await start(t);
		await device.unplug();
		const elsewhere = new ServerRegistry({ store });
		t.after(() => elsewhere.close());
		await elsewhere.edit(LAMP, { alias: "desk", tags: ["upstairs"] });
		assert.deepEqual([servers.find("desk")?.tags, servers.find("lamp_000001")], [["upstairs"], undefined]);
		await store.set("offers/new", { tools: [], resources: [], resourceTemplates: [], prompts: [] });
		await store.set(`device/${LAMP}`, { board: { name: "lamp", version: "2" }, offers: "new", lastSeen: 5 });
		const { board, tools, lastSeen } = servers.find("desk") ?? assert.fail();
		assert.deepEqual([board.version, tools, lastSeen], ["2", [], 5]);
		assert.equal(await elsewhere.forget(LAMP), true);
		assert.deepEqual([servers.all, store.list("alias/"), store.list("tags/")], [[], [], []]);
	});

	it("are unknown to an edit if another gateway forgets them before that is stored", async (t) => {
		const { store, device, servers } = await start(t);
		await device.unplug();
		const elsewhere = new ServerRegistry({ store });
		t.after(() => elsewhere.close());
		const goOn = store.hold("alias");
		const edited = servers.edit(LAMP, { alias: "desk", tags: ["upstairs"] });
		assert.equal(await elsewhere.forget(LAMP), true);
		goOn();
		assert.equal(await edited, undefined);
		assert.deepEqual([store.list("alias/"), store.list("tags/")], [[], []]);
	});

	it("are unknown to an edit if they come back after another gateway has forgotten them", async (t) => {
		const { store, side, device, servers } = await start(t);
		await device.unplug();
		const elsewhere = new ServerRegistry({ store });
		t.after(() => elsewhere.close());
		const goOn = store.hold("alias");
		const edited = servers.edit(LAMP, { alias: "desk" });
		assert.equal(await elsewhere.forget(LAMP), true);
		const connected = once(servers, "connected");
		await WireDevice.connectTo(t, side.deviceUrl, { id: LAMP, listsNothing: true });
		await connected;
		goOn();
		assert.equal(await edited, undefined);
		assert.deepEqual(store.list("alias/"), []);
	});

	itStarted("are stored again if another gateway forgets them while they are here", async ({ store, servers }) => {
		await store.delete(`device/${LAMP}`);
		await store.delete("alias/lamp_000001");
		await until(() => store.get(`device/${LAMP}`) !== undefined, "it is stored again");
		assert.equal(servers.find("lamp_000001")?.online, true);
	});

	it("are forgotten after the first record that is being written", async (t) => {
		const store = new TestStore();
		const goOn = store.hold("device");
		const { side, device } = await startWithDevice(t, { store });
		await until(() => store.list("offers/").length > 0, "its lists are stored");
		await turn();
		await device.unplug();
		const forgotten = side.gateway.servers.forget(LAMP);
		await turn();
		goOn();
		assert.equal(await forgotten, true);
		await side.gateway.servers.close();
		assert.deepEqual([side.gateway.servers.all, store.list("device/"), store.list("alias/")], [[], [], []]);
	});

	it("stay forgotten if another gateway forgets them while their last record is being written", async (t) => {
		const { store, device, servers } = await start(t);
		const elsewhere = new ServerRegistry({ store });
		t.after(() => elsewhere.close());
		const goOn = store.hold("device");
		const { changes } = store;
		await device.unplug();
		await until(() => store.changes > changes, "the time of its end is being written");
		assert.equal(await elsewhere.forget(LAMP), true);
		goOn();
		await servers.close();
		assert.deepEqual([servers.all, elsewhere.all, store.list("device/")], [[], [], []]);
	});

	it("are stored as soon as that is possible", async (t) => {
		const store = new TestStore();
		store.refuses = true;
		const { device } = await startWithDevice(t, { store });
		await device.unplug();
		store.refuses = false;
		store.emit("connected");
		await until(() => store.get(`device/${LAMP}`) !== undefined, "it is stored");
		assert.deepEqual(store.get("alias/lamp_000001")?.value, { device: LAMP, isDefault: true });
	});

	itStarted("keep the alias that they have if another one cannot be stored", async ({ store, servers }) => {
		const goOn = store.hold("alias");
		const edited = assert.rejects(servers.edit(LAMP, { alias: "desk" }), { code: "unknown" });
		await turn();
		// NATS has lost its disk.
		await store.delete("alias/lamp_000001");
		await turn();
		goOn(new StoreError("unknown", "timeout"));
		await edited;
		await until(() => store.get("alias/lamp_000001") !== undefined, "its alias is stored again");
	});

	it("are stored with the first name that somebody gives them", async (t) => {
		const store = new TestStore();
		store.refuses = true;
		const { side } = await startWithDevice(t, { store });
		await turn();
		store.refuses = false;
		await side.gateway.servers.edit(LAMP, { alias: "desk" });
		assert.notEqual(store.get(`device/${LAMP}`), undefined);
	});

	it("are stored if another gateway has them now, but has not stored them", async (t) => {
		const store = new TestStore();
		store.refuses = true;
		const { side, device } = await startWithDevice(t, { store });
		await device.unplug();
		const { servers } = side.gateway;
		const { board, offers } = servers.find(LAMP) ?? assert.fail();
		const entry = { id: LAMP, board, gateway: "killed", claim: "c", capabilities: {} } as ConstructorParameters<
			typeof RemoteConnection
		>[0];
		servers.connect(new RemoteConnection(entry, offers, { connected: false } as Bus, "", () => {}));
		store.refuses = false;
		store.emit("connected");
		await until(() => store.get(`device/${LAMP}`) !== undefined, "it is stored");
	});

	it("store few of many lists that follow each other, and go on with earlier ones", async (t) => {
		const { store, side, device, servers } = await start(t);
		for (let count = 0; count < 30; count += 1) {
			device.changeTools([{ ...SET_VOLUME, description: String(count) }]);
			await until(() => servers.find(LAMP)?.tools[0]?.description === String(count), "they are read");
			await turn();
		}
		await until(() => side.warnings.length > 0, "a warning");
		assert.ok(store.list("offers/").length <= 21, `${store.list("offers/").length}`);
		assert.deepEqual(side.warnings.length, 1);
		assert.match(side.warnings[0] ?? "", /^aa:bb:cc:00:00:01: its lists are not stored: they change too often/);
		assert.ok(servers.refusedLists > 0);
	});

	it("are stored after the store has failed more often than lists may change", async (t) => {
		const store = new TestStore();
		store.forgetsLists = true;
		await startWithDevice(t, { store });
		while (store.changes < 60) {
			const { changes } = store;
			store.emit("connected");
			await until(() => store.changes > changes, "it is tried again");
		}
		store.forgetsLists = false;
		store.emit("connected");
		await until(() => store.get(`device/${LAMP}`) !== undefined, "it is stored");
		assert.equal(store.list("offers/").length, 1);
	});

	it("tell of each notification of a device once, and whether it has changed its state or is an event that is not too long", async (t) => {
		const { side, device } = await startWithDevice(t);
		const { servers } = side.gateway;
		const server = servers.find(LAMP);
		const notified: unknown[] = [];
		const states: unknown[] = [];
		servers.on("notification", (_server, method, params, isState) => {
			notified.push([method, params]);
			states.push(isState);
		});
		const rejected: string[] = [];
		servers.on("rejected", (description) => rejected.push(description));
		device.answer(99, {});
		device.notify("notifications/anything", { at: 1 });
		device.notify("notifications/state_changed", { newState: 5 });
		device.notify("notifications/button_pressed", { name: "x".repeat(1_100) });
		device.notify("notifications/button_pressed", { name: "boot" });
		device.notify("notifications/state_changed", { newState: "x".repeat(100) });
		await until(() => notified.length === 5, "all notifications");
		assert.deepEqual(notified[0], ["notifications/anything", { at: 1 }]);
		assert.deepEqual([server?.state, server?.event?.params], ["x".repeat(64), { name: "boot" }]);
		assert.deepEqual(states, [false, false, false, true, true]);
		assert.equal(rejected.length, 2);
		assert.match(rejected[0] ?? "", new RegExp(`^${LAMP}: .*99`), "a response to nothing");
		assert.equal(rejected[1], `${LAMP}: notifications/button_pressed is too long (limit 1024 characters)`);
	});

	itStarted("survive a damaged record, which is left out", async ({ store, side: first }, t) => {
		await first.close();
		await store.set("device/b", { board: 5 });
		await store.set("device/c", { board: { name: "x", version: "1" }, offers: "x", lastSeen: 1e300 });
		const second = await startGateway(t, { store });
		assert.equal(second.gateway.servers.all.length, 1);
		assert.match(
			second.warnings.join("\n"),
			/device\/b: not a record of a device: board: [\s\S]*device\/c: .* lastSeen/,
		);
	});

	it("can be renamed, online or offline, and keep that alias over a restart of the gateway", async (t) => {
		const store = new MemoryStore();
		const first = await startGateway(t, { store });
		const { servers } = first.gateway;
		const device = await WireDevice.connect(t, first);
		const changed = once(servers, "changed");
		assert.equal((await servers.edit("lamp_000001", { alias: "kitchen" }))?.alias, "kitchen");
		await changed;
		assert.deepEqual([servers.find("kitchen")?.id, servers.find("lamp_000001")], [LAMP, undefined]);
		assert.equal(await servers.edit("lamp_000001", { alias: "hall" }), undefined, "there is no such device any more");
		await device.unplug();
		await servers.edit(LAMP, { alias: "hall" });
		await first.close();
		const second = await startGateway(t, { store });
		assert.equal(second.gateway.servers.find("hall")?.id, LAMP);
		await WireDevice.connect(t, second);
		assert.equal(second.gateway.servers.find(LAMP)?.alias, "hall");
	});

	it("keep a title and tags in any script over a restart, and lose a title that is empty", async (t) => {
		const { store, side: first, servers } = await start(t);
		const server = await servers.edit(LAMP, { title: " キッチンのライト ", tags: ["厨房", "Living room"] });
		assert.deepEqual([server?.title, server?.tags], ["キッチンのライト", ["Living room", "厨房"]]);
		for (const title of ["x".repeat(65), "two\nlines", "\u202egnitset"]) {
			await assert.rejects(servers.edit(LAMP, { title }), /^RangeError: title: expected at most 64 visible/);
		}
		await first.close();
		const second = (await startGateway(t, { store })).gateway.servers;
		assert.deepEqual(
			[second.find(LAMP)?.title, second.find(LAMP)?.tags],
			["キッチンのライト", ["Living room", "厨房"]],
		);
		assert.equal((await second.edit(LAMP, { title: "" }))?.title, undefined);
	});

	it("have titles and tags that can be seen, emoji and joined scripts included", async (t) => {
		const { servers } = await start(t);
		for (const title of ["\u3164\u3164", "\u2800", "\u200d", "\u115f", "\u200d \u200d", "\ufe0f", "La\u3164mp"]) {
			await assert.rejects(servers.edit(LAMP, { title }), /^RangeError: title: expected at most 64 visible/);
		}
		for (const tag of ["\u3164", "\u115f", "hall\uffa0", "hall\ufe0f", "\u2800"]) {
			await assert.rejects(servers.edit(LAMP, { tags: [tag] }), /^RangeError: tag: expected 1 to 32 visible letters/);
		}
		for (const tag of ["all", "All", "ALL"]) {
			await assert.rejects(servers.edit(LAMP, { tags: [tag] }), new RegExp(`tag ${tag}: reserved for every device`));
		}
		for (const title of ["❤\ufe0f", "👩\u200d💻", "می\u200cخواهم", "葛\u{e0100}", " "]) {
			assert.equal((await servers.edit(LAMP, { title }))?.title ?? "", title.trim());
		}
	});

	it("keep their tags over a restart and another firmware, and cannot have invalid ones", async (t) => {
		const { store, side: first, device, servers } = await start(t);
		assert.deepEqual((await servers.edit(LAMP, { tags: ["upstairs", "lights", "upstairs"] }))?.tags, [
			"lights",
			"upstairs",
		]);
		device.changeTools([]);
		await until(() => servers.find(LAMP)?.tools.length === 0, "its tools are read again");
		assert.deepEqual(servers.find(LAMP)?.tags, ["lights", "upstairs"]);
		await assert.rejects(servers.edit(LAMP, { tags: ["a__b"] }), /^RangeError: tag: expected 1 to 32 .*got "a__b"$/);
		const many = Array.from({ length: 17 }, (_, at) => `t${at}`);
		await assert.rejects(servers.edit(LAMP, { tags: many }), /a device has at most 16, got 17/);
		assert.equal(await servers.edit("hall", { tags: ["x"] }), undefined);
		await first.close();
		const second = await startGateway(t, { store });
		assert.deepEqual(second.gateway.servers.find(LAMP)?.tags, ["lights", "upstairs"]);
	});

	it("do not wait for others that are slow to list their tools", async (t) => {
		const side = await startGateway(t, { discoveries: 2 });
		for (const id of ["aa:bb:cc:00:00:02", "aa:bb:cc:00:00:03"]) {
			await WireDevice.connectTo(t, side.deviceUrl, { id, listsNothing: true });
		}
		await WireDevice.connect(t, side);
		const ids = side.gateway.servers.all.map(({ id }) => id);
		assert.deepEqual(ids, [LAMP]);
	});

	it("are disconnected when they do not list their tools in time", async (t) => {
		const side = await startGateway(t, { discoveryTimeout: 100 });
		const device = await WireDevice.connectTo(t, side.deviceUrl, { listsNothing: true });
		await device.disconnected();
		assert.match(
			side.warnings.join(),
			/could not list its tools, resources or prompts: no complete list within 0\.1 s/,
		);
	});

	it("can be called at once with what is known of them, if they come back with the same firmware", async (t) => {
		const { side, device } = await startWithDevice(t);
		await device.unplug();
		const back = await WireDevice.connect(t, side, { listsNothing: true });
		const server = side.gateway.servers.find(LAMP);
		await server?.call(server.tools[0] as ServerTool, { volume: 1 }, { principal: "somebody" });
		assert.equal(back.calls.length, 1);
	});

	it("are disconnected when there are more than may be known", async (t) => {
		const { side } = await startWithDevice(t, { maxServers: 1 });
		await assert.rejects(WireDevice.connect(t, side, { id: "aa:bb:cc:00:00:02" }), /disconnected/);
		assert.match(side.warnings.join(), /00:02: disconnected: server limit \(\d+\) reached/);
		assert.equal(side.gateway.servers.all.length, 1);
	});

	it("are forgotten if they disconnect before they were known: others may come", async (t) => {
		const side = await startGateway(t, { maxServers: 1 });
		const { servers } = side.gateway;
		const gone = once(servers, "disconnected");
		const device = await WireDevice.connectTo(t, side.deviceUrl, { id: "aa:bb:cc:00:00:02", listsNothing: true });
		await device.unplug();
		await gone;
		await WireDevice.connect(t, side);
		const ids = servers.all.map(({ id }) => id);
		assert.deepEqual(ids, [LAMP]);
		assert.deepEqual(side.warnings, [], "a device that leaves is no fault");
	});

	it("are offline as before, and nobody is told, if they come back and disconnect before their lists are read", async (t) => {
		const side = await startGateway(t);
		const { servers } = side.gateway;
		await (await WireDevice.connect(t, side)).unplug();
		let told = 0;
		servers.on("state", () => {
			told += 1;
		});
		const [came, gone] = [once(servers, "connected"), once(servers, "disconnected")];
		const updated = await WireDevice.connectTo(t, side.deviceUrl, { version: "2.0.0", listsNothing: true });
		await came;
		await updated.unplug();
		await gone;
		assert.deepEqual([told, servers.find(LAMP)?.online], [0, false]);
	});

	it("may be another gateway's: offline, unless there are too many", async (t) => {
		const store = new MemoryStore();
		const servers = new ServerRegistry({ store, maxServers: 2 });
		t.after(() => servers.close());
		await store.set("offers/none", { tools: [], resources: [], resourceTemplates: [], prompts: [] });
		for (const [id, alias] of [
			["a", "first"],
			["b", "second"],
			["c", "third"],
		]) {
			await store.set(`alias/${alias}`, { device: id });
			await store.set(`device/${id}`, { board: { name: "lamp", version: "1" }, offers: "none", lastSeen: 1 });
		}
		const found = servers.all.map(({ id, alias, online }) => [id, alias, online]);
		assert.deepEqual(found, [
			["a", "first", false],
			["b", "second", false],
		]);
	});

	it("may connect by hundreds at once: clients are told only a few times", async (t) => {
		const side = await startGateway(t, { discoveries: 8, changeDelay: 1_000 });
		let told = 0;
		side.gateway.servers.on("changed", () => {
			told += 1;
		});
		const ids = Array.from({ length: 200 }, (_, index) => `aa:bb:cc:00:01:${index.toString(16).padStart(2, "0")}`);
		await Promise.all(ids.map((id) => WireDevice.connect(t, side, { id })));
		assert.equal(side.gateway.servers.all.length, ids.length);
		await until(() => told > 0, "clients are told");
		assert.ok(told < ids.length / 4, `told ${told} times`);
	});

	itWithDevice("are left when their last request has ended, be it a call or another one", async ({ side }) => {
		const controller = new AbortController();
		const { signal } = controller;
		const read = side.gateway.servers
			.find(LAMP)
			?.request({ method: "resources/read", params: { uri: "x:" } }, { signal });
		const cancelled = assert.rejects(read as Promise<object>, { code: "cancelled" });
		let isOver = false;
		void side.gateway.servers.drain(3_600_000).then(() => {
			isOver = true;
		});
		await new Promise((resolve) => setImmediate(resolve));
		assert.equal(isOver, false);
		controller.abort();
		await cancelled;
		await until(() => isOver, "the servers are left, an hour early");
	});
});
