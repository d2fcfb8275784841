import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { Kvm } from "@nats-io/kv";
import { connect } from "@nats-io/transport-node";
import { until } from "../../../host-test/support/until.js";
import { type Entry, keyOf } from "../../src/cluster/messages.js";
import { WireDevice } from "../support/gateway.js";
import { type StartedProgram, startProgram } from "../support/program.js";
import { Gate } from "./support/gate.js";
import { isKnownOffline, LAMP, startCluster, startTwo, untilAt, untilOnline } from "./support/gateways.js";
import { NatsServer, whyNoNats } from "./support/nats-server.js";

const OTHER = "aa:bb:cc:00:00:02";

/** Reads the entry of the lamp in NATS. */
async function openEntry(t: TestContext, { url }: NatsServer): Promise<() => Promise<Entry | undefined>> {
	const connection = await connect({ servers: url });
	t.after(() => connection.close());
	const devices = await new Kvm(connection).open("xsmcp_devices");
	return async () => (await devices.get(keyOf(LAMP)))?.json<Entry>();
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

	it("is kept if the device moves before its gateway could store it", async (t) => {
		const { nats, a, b } = await startTwo(t);
		const first = await WireDevice.connect(t, a);
		await untilAt(b, "a");
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
