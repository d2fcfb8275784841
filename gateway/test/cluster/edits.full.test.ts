import assert from "node:assert/strict";
import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { until } from "../../../host-test/support/until.js";
import { type Entry, idOf, keyOf } from "../../src/cluster/messages.js";
import { Gate } from "../support/gate.js";
import { STATUS, WireDevice } from "../support/gateway.js";
import { makeStateFolder, type StartedProgram, startProgram } from "../support/program.js";
import {
	isKnownOffline,
	LAMP,
	startCluster,
	startTwo,
	startTwoWithLamp,
	untilAt,
	untilOnline,
} from "./support/gateways.js";
import { NatsServer, whyNoNats } from "./support/nats-server.js";

const OTHER = "aa:bb:cc:00:00:02";

/** Reads the entry of a device in NATS. */
async function openEntry(t: TestContext, nats: NatsServer) {
	const devices = await (await nats.openBuckets(t)).open("xsmcp_devices");
	return async (id = LAMP) => (await devices.get(keyOf(id)))?.json<Entry>();
}

async function untilNamed(gateways: readonly StartedProgram[], alias: string): Promise<void> {
	for (const { gateway } of gateways) {
		await until(() => gateway.servers.find(LAMP)?.alias === alias, `its alias is ${alias}`);
	}
}

async function untilBack({ log }: StartedProgram, times = 1): Promise<void> {
	await until(() => log().split("the connection to NATS is back").length > times, "NATS is back");
}

describe("the alias of a device in a cluster", { skip: whyNoNats }, () => {
	it("is kept if it was changed when NATS had lost the device", async (t) => {
		const { nats, a, b } = await startTwo(t);
		await (await WireDevice.connect(t, a)).unplug();
		await until(() => isKnownOffline(b), "b knows it, offline");
		await nats.loseDisk();
		await b.gateway.servers.edit(LAMP, { alias: "desk" });
		await nats.run();
		await Promise.all([untilBack(a), untilBack(b)]);
		await WireDevice.connect(t, a);
		await untilAt(b, "a");
		await untilNamed([a, b], "desk");
	});

	it("is kept if its gateway stops at once", async (t) => {
		const { a, b } = await startTwo(t);
		await (await WireDevice.connect(t, a)).unplug();
		await until(() => isKnownOffline(b), "b knows it, offline");
		await a.gateway.servers.edit(LAMP, { alias: "desk" });
		await a.program.close();
		await untilNamed([b], "desk");
	});

	it("is kept if its gateway is killed before NATS is back", async (t) => {
		const nats = await NatsServer.start(t);
		const [a] = (await startCluster(t, nats, ["a"])) as [StartedProgram];
		const [folder, crashed] = [makeStateFolder(), makeStateFolder()];
		const b = await startProgram(t, { cluster: nats.url, clusterName: "b" }, folder);
		await (await WireDevice.connect(t, a)).unplug();
		await until(() => isKnownOffline(b), "b knows it, offline");
		await nats.kill();
		await b.gateway.servers.edit(LAMP, { alias: "desk" });
		// The files of a process that is killed now.
		cpSync(folder, crashed, { recursive: true });
		await b.program.close();
		await nats.run();
		await untilBack(a);
		const again = await startProgram(t, { cluster: nats.url, clusterName: "b" }, crashed);
		await untilNamed([a, again], "desk");
	});

	it("is lost with a damaged file, as the log says", async (t) => {
		const { url } = await NatsServer.start(t);
		const folder = makeStateFolder();
		writeFileSync(join(folder, "unshared-edits.json"), '{"version":1,"edits":{"');
		const { log } = await startProgram(t, { cluster: url, clusterName: "a" }, folder);
		assert.match(log(), /unshared-edits\.json: damaged, so its changes of devices are lost: /);
	});

	it("can be changed elsewhere after its gateway has changed it and changed it back", async (t) => {
		const { a, b } = await startTwoWithLamp(t);
		const alias = a.gateway.servers.find(LAMP)?.alias ?? "";
		await a.gateway.servers.edit(LAMP, { alias: "between" });
		await a.gateway.servers.edit(LAMP, { alias });
		// Of two changes at the same time, the later one stays.
		await until(async () => {
			await b.gateway.servers.edit(LAMP, { alias: "desk" });
			return a.gateway.servers.find(LAMP)?.alias === "desk";
		}, "a has the alias that it got at b");
		await untilNamed([a, b], "desk");
	});

	it("is written once, at the gateway where it is changed: a later entry would take it from another device", async (t) => {
		const { nats, a, b } = await startTwoWithLamp(t);
		const devices = await (await nats.openBuckets(t)).open("xsmcp_devices");
		const revisions: number[] = [];
		for (const alias of ["desk", "shelf"]) {
			await b.gateway.servers.edit(LAMP, { alias });
			await untilNamed([a], alias);
			revisions.push((await devices.get(keyOf(LAMP)))?.revision as number);
		}
		const [first, second] = revisions as [number, number];
		assert.equal(second, first + 1);
	});

	it("is kept if the device moves before its gateway could store it", async (t) => {
		const { nats, a, b, device: first } = await startTwoWithLamp(t);
		nats.pause();
		await a.gateway.servers.edit(LAMP, { alias: "desk" });
		await WireDevice.connect(t, b);
		nats.resume();
		await first.disconnected();
		await untilAt(a, "b");
		await untilNamed([a, b], "desk");
	});

	it("is kept if the device moves to a gateway that does not know the change yet", async (t) => {
		const nats = await NatsServer.start(t);
		const gate = await Gate.open(t, nats.port);
		const [a] = (await startCluster(t, nats, ["a"])) as [StartedProgram];
		const b = await startProgram(t, { cluster: gate.url, clusterName: "b" });
		const first = await WireDevice.connect(t, a);
		await untilAt(b, "a");
		gate.cut();
		await untilOnline(b, false);
		await a.gateway.servers.edit(LAMP, { alias: "desk" });
		const entry = await openEntry(t, nats);
		await until(async () => (await entry())?.alias === "desk", "the change is stored");
		await WireDevice.connect(t, b);
		gate.restore();
		await first.disconnected();
		await untilAt(a, "b");
		await untilNamed([a, b], "desk");
	});
});

describe("the aliases of two devices in a cluster", { skip: whyNoNats }, () => {
	const aliasesAt = ({ gateway }: StartedProgram) => [LAMP, OTHER].map((id) => gateway.servers.find(id)?.alias);

	async function startWithTwoDevices(t: TestContext) {
		const cluster = await startTwo(t);
		for (const id of [LAMP, OTHER]) {
			await (await WireDevice.connect(t, cluster.a, { id })).unplug();
		}
		await until(() => [LAMP, OTHER].every((id) => isKnownOffline(cluster.b, id)), "b knows them, offline");
		return cluster;
	}

	it("can be exchanged: every gateway follows", async (t) => {
		const { a, b } = await startWithTwoDevices(t);
		const [first = "", second = ""] = aliasesAt(a);
		const { servers } = a.gateway;
		await servers.edit(LAMP, { alias: "between" });
		await servers.edit(OTHER, { alias: first });
		await servers.edit(LAMP, { alias: second });
		await until(() => String(aliasesAt(b)) === String([second, first]), "b has the new names");
		assert.deepEqual(aliasesAt(a), [second, first]);
	});

	it("are left alone where one of them is configured for the other device", async (t) => {
		const { nats, a } = await startWithTwoDevices(t);
		const aliases = { [LAMP]: "desk" };
		const c = await startProgram(t, { cluster: nats.url, clusterName: "c", aliases });
		await until(() => [LAMP, OTHER].every((id) => isKnownOffline(c, id)), "c knows them, offline");
		const [, second = ""] = aliasesAt(a);
		await a.gateway.servers.edit(OTHER, { alias: "desk" });
		await a.gateway.servers.edit(LAMP, { alias: second });
		await until(() => c.log().split("cannot be used here").length > 2, "c cannot use either");
		assert.deepEqual(aliasesAt(c), ["desk", second]);
		assert.equal(c.gateway.servers.find(second)?.id, OTHER);
		assert.ok(c.log().split("cannot be used here").length < 20, "it warns without end");
	});

	it("stay as they were given last, if a gateway that does not know that yet stores an earlier one later", async (t) => {
		const { nats, a, b } = await startWithTwoDevices(t);
		const [first = ""] = aliasesAt(a);
		const entry = await openEntry(t, nats);
		const earlier = await entry();
		await a.gateway.servers.edit(LAMP, { alias: "shelf" });
		await a.gateway.servers.edit(OTHER, { alias: first });
		await untilNamed([b], "shelf");
		await until(async () => (await entry(OTHER))?.alias === first, "NATS has the new names");
		const devices = await (await nats.openBuckets(t)).open("xsmcp_devices");
		await devices.put(keyOf(LAMP), JSON.stringify(earlier));
		await until(async () => (await entry())?.alias !== first, "the device has another alias");
		await until(() => [a, b].every((gateway) => aliasesAt(gateway)[1] === first), "both gateways show the last one");
		assert.equal((await entry(OTHER))?.alias, first);
	});

	it("become different if two gateways gave both the same at once: every gateway shows the same, also one that is new", async (t) => {
		const { nats, a, b } = await startWithTwoDevices(t);
		await nats.kill();
		await a.gateway.servers.edit(LAMP, { alias: "desk" });
		await b.gateway.servers.edit(OTHER, { alias: "desk" });
		await nats.run();
		await Promise.all([untilBack(a), untilBack(b)]);
		const entry = await openEntry(t, nats);
		const stored = async () => [(await entry())?.alias, (await entry(OTHER))?.alias];
		const isShownBy = async (gateway: StartedProgram) => String(aliasesAt(gateway)) === String(await stored());
		await until(async () => {
			const aliases = await stored();
			const isOne = aliases.filter((alias) => alias === "desk").length === 1;
			return isOne && (await isShownBy(a)) && (await isShownBy(b));
		}, "one of them is desk, at both gateways");
		const [c] = (await startCluster(t, nats, ["c"])) as [StartedProgram];
		await until(() => isShownBy(c), "c shows the same");
	});

	it("stay as they are if an older entry with the same alias is applied late because its lists were missing", async (t) => {
		const { nats, a, b } = await startTwo(t);
		await (await WireDevice.connect(t, a)).unplug();
		await until(() => isKnownOffline(b), "b knows it, offline");
		const kvm = await nats.openBuckets(t);
		const [devices, lists] = [await kvm.open("xsmcp_devices"), await kvm.open("xsmcp_lists")];
		const entry = await openEntry(t, nats);
		const { offers = "", ...rest } = (await entry()) ?? {};
		const other = { ...rest, id: OTHER, gateway: "c", alias: "desk", offers: "another" };
		await devices.put(keyOf(OTHER), JSON.stringify(other));
		for (const { log } of [a, b]) {
			await until(() => log().includes(`${OTHER}: not shown here`), "the other device waits for its lists");
		}
		await a.gateway.servers.edit(LAMP, { alias: "desk" });
		await untilNamed([b], "desk");
		await lists.put("another", (await lists.get(offers))?.string() ?? "");
		await until(async () => (await entry(OTHER))?.alias !== "desk", "the other device has another alias");
		await until(() => [a, b].every((gateway) => isKnownOffline(gateway, OTHER)), "both show it");
		assert.deepEqual([aliasesAt(a)[0], aliasesAt(b)[0], (await entry())?.alias], ["desk", "desk", "desk"]);
	});
});

describe("a device that was forgotten in a cluster", { skip: whyNoNats }, () => {
	it("does not come back if it disconnected from its gateway while that gateway could not reach NATS", async (t) => {
		const nats = await NatsServer.start(t);
		const gate = await Gate.open(t, nats.port);
		const a = await startProgram(t, { cluster: gate.url, clusterName: "a" });
		const [b] = (await startCluster(t, nats, ["b"])) as [StartedProgram];
		const device = await WireDevice.connect(t, a);
		await untilAt(b, "a");
		gate.cut();
		await untilOnline(b, false);
		await device.unplug();
		await b.gateway.servers.forget(LAMP);
		const devices = await (await nats.openBuckets(t)).open("xsmcp_devices");
		const operation = async () => (await devices.get(keyOf(LAMP)))?.operation;
		await until(async () => (await operation()) === "DEL", "b has stored that it is forgotten");
		gate.restore();
		await untilBack(a);
		assert.equal(await operation(), "DEL");
		await until(() => a.gateway.servers.find(LAMP) === undefined, "a has forgotten it");
	});

	it("is stored again if it is online at a gateway that the others cannot see", async (t) => {
		const { nats, b } = await startTwoWithLamp(t);
		const devices = await (await nats.openBuckets(t)).open("xsmcp_devices");
		// As a gateway does whose operator has forgotten it.
		await devices.delete(keyOf(LAMP));
		await until(async () => (await devices.get(keyOf(LAMP)))?.operation === "PUT", "a has stored it again");
		await untilAt(b, "a");
	});

	it("stays once it has connected to another gateway, also if NATS did not know it", async (t) => {
		const nats = await NatsServer.start(t);
		const kvm = await nats.openBuckets(t);
		const lists = await kvm.create("xsmcp_lists", { max_bytes: 8_000 });
		const folder = makeStateFolder();
		const alone = await startProgram(t, {}, folder);
		await (await WireDevice.connect(t, alone)).unplug();
		await alone.program.close();
		const [a] = (await startCluster(t, nats, ["a"])) as [StartedProgram];
		const b = await startProgram(t, { cluster: nats.url, clusterName: "b" }, folder);
		await (await WireDevice.connect(t, a, { id: OTHER })).unplug();
		await until(() => isKnownOffline(b, OTHER), "b knows the other device, offline");
		await b.gateway.servers.forget(LAMP);
		// The bucket is full: other gateways know that the device is online, and cannot show it.
		await lists.put("something", "x".repeat(6_000));
		await WireDevice.connect(t, a, { tools: [{ ...STATUS, description: "x".repeat(4_000) }] });
		await until(() => b.log().includes(`${LAMP}: not shown here`), "b knows that it is online");
		const changes: string[] = [];
		const watch = await (await kvm.open("xsmcp_devices")).watch();
		void (async () => {
			for await (const { key, operation } of watch) {
				changes.push(`${operation} ${idOf(key)}`);
			}
		})();
		// A gateway writes its changes in their order.
		await b.gateway.servers.edit(OTHER, { alias: "desk" });
		await until(() => changes.filter((change) => change === `PUT ${OTHER}`).length > 1, "b has written");
		assert.deepEqual([...new Set(changes)].sort(), [`PUT ${LAMP}`, `PUT ${OTHER}`]);
	});
});

describe("a connection to NATS", { skip: whyNoNats }, () => {
	it("shows no device that has disconnected meanwhile, if NATS has lost its disk", async (t) => {
		const nats = await NatsServer.start(t);
		const gate = await Gate.open(t, nats.port);
		const [a] = (await startCluster(t, nats, ["a"])) as [StartedProgram];
		const b = await startProgram(t, { cluster: gate.url, clusterName: "b" });
		const device = await WireDevice.connect(t, a);
		await untilAt(b, "a");
		gate.cut();
		await untilOnline(b, false);
		await device.unplug();
		const entry = await openEntry(t, nats);
		await until(async () => (await entry())?.online === false, "a has stored that it is offline");
		await nats.loseDisk();
		await nats.run();
		await untilBack(a);
		gate.restore();
		await WireDevice.connect(t, a, { id: OTHER });
		await until(() => b.gateway.servers.find(OTHER)?.online === true, "b knows a again");
		assert.equal(b.gateway.servers.find(LAMP)?.online, false);
	});
});
