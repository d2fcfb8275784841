import assert from "node:assert/strict";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import * as z from "zod";
import { until } from "../../../host-test/support/testing.js";
import { TokenStore } from "../src/config/token-store.js";
import { startListening } from "../testing/command-line.js";
import { ask, buttonOf, Endpoint, follow, PRESSED, poll, press, SECRET } from "../testing/events.js";
import { Gate } from "../testing/gate.js";
import { WireDevice } from "../testing/gateway.js";
import { openClusterStore, untilAt, untilOnline } from "../testing/gateways.js";
import { NatsServer, whyNoNats } from "../testing/nats-server.js";
import { connect, makeStateFolder, openStoreFor, type StartedProgram, startProgram } from "../testing/program.js";

// Events of a cluster: every gateway has the same ones, and one gateway posts each of them.

const NAME = "button.pressed";

/** Gateways "a" and "b" with one key, and an endpoint for events. */
async function startPair(t: TestContext) {
	const nats = await NatsServer.start(t);
	const endpoint = await Endpoint.listen(t);
	const settings = { cluster: nats.url, webhookHosts: [endpoint.host] };
	const folders = [makeStateFolder(), makeStateFolder()] as const;
	const token = await new TokenStore(await openStoreFor(t, settings)).add({ name: "agent", kind: "client" });
	const a = await startProgram(t, { ...settings, clusterName: "a" }, folders[0]);
	copyFileSync(join(folders[0], "device-key"), join(folders[1], "device-key"));
	const b = await startProgram(t, { ...settings, clusterName: "b" }, folders[1]);
	const connectTo = (gateway: StartedProgram) => connect(t, gateway, token);
	return { nats, endpoint, settings, a, b, token, connectTo };
}

const hook = (endpoint: Endpoint) => ({
	name: NAME,
	delivery: { mode: "webhook", url: endpoint.url, secret: SECRET },
});

describe("events of a cluster", { skip: whyNoNats }, () => {
	it("are the same at every gateway, with the same ids, places and cursors", async (t) => {
		const { a, b, connectTo } = await startPair(t);
		const [atA, atB] = [await connectTo(a), await connectTo(b)];
		const { cursor } = await ask(atA, "events/poll", { name: NAME });
		const told = follow(atB);
		void atB
			.request({ method: "events/stream", params: { name: NAME } }, z.looseObject({}), { timeout: 600_000 })
			.catch(() => {});
		await until(() => told.some(({ method }) => method === "active"), "active");
		const device = await WireDevice.connect(t, a);
		await untilAt(b, "a");
		device.notify(PRESSED, press("boot"));
		await until(() => told.some((each) => buttonOf(each) === "boot"), "streamed at the other gateway");
		await until(async () => (await poll(atA, cursor)).length > 0, "polled here");
		const [here, there] = [await poll(atA, cursor), await poll(atB, cursor)];
		assert.equal(here.length, 1);
		assert.deepEqual(there, here);
		const { truncated } = await ask(atB, "events/poll", { name: NAME, cursor });
		assert.equal(truncated, false);
	});

	it("say once that a device is online, and offline also if its gateway is gone", async (t) => {
		const { a, b, connectTo } = await startPair(t);
		const client = await connectTo(b);
		const { cursor } = await ask(client, "events/poll", { name: NAME });
		const device = await WireDevice.connect(t, a);
		await untilAt(b, "a");
		await device.unplug();
		await untilOnline(b, false);
		await WireDevice.connect(t, a);
		await untilAt(b, "a");
		await a.gateway.close();
		await untilOnline(b, false);
		const count = async (name: string) => (await poll(client, cursor, {}, name)).length;
		await until(async () => (await count("device.offline")) === 2, "twice offline");
		assert.equal(await count("device.online"), 2);
	});

	it("that happen while NATS is away come later, in their order, by webhook as well", async (t) => {
		const { nats, endpoint, a, b, connectTo } = await startPair(t);
		const client = await connectTo(b);
		await ask(client, "events/subscribe", hook(endpoint));
		const { cursor } = await ask(client, "events/poll", { name: NAME });
		const device = await WireDevice.connect(t, a);
		device.notify(PRESSED, press("before"));
		await until(() => endpoint.messages.length === 1, "posted");
		await nats.kill();
		await untilOnline(b, false);
		for (const button of ["1", "2", "3"]) {
			device.notify(PRESSED, press(button));
		}
		await nats.run();
		await until(() => endpoint.buttons.includes("3"), "posted once NATS is back");
		const ids = new Set(endpoint.messages.map(({ id }) => id));
		assert.equal(ids.size, 4);
		assert.equal(endpoint.messages.length, 4, "each once");
		const found = await poll(client, cursor);
		const seen = found.map(({ data }) => data.button);
		assert.deepEqual(seen, ["before", "1", "2", "3"]);
	});

	it("are stored once, also if NATS cannot confirm that and the gateway repeats them", async (t) => {
		const nats = await NatsServer.start(t);
		const gate = await Gate.open(t, nats.port);
		const a = await startProgram(t, { cluster: gate.url, clusterName: "a" });
		const b = await startProgram(t, { cluster: nats.url, clusterName: "b" });
		const client = await connect(t, b);
		const { cursor } = await ask(client, "events/poll", { name: NAME });
		const device = await WireDevice.connect(t, a);
		await untilAt(b, "a");
		gate.mute();
		const buttons = async () => (await poll(client, cursor)).map(({ data }) => data.button);
		device.notify(PRESSED, press("first"));
		await until(async () => (await buttons()).length > 0, "stored");
		gate.cut();
		gate.restore();
		device.notify(PRESSED, press("second"));
		await until(async () => (await buttons()).includes("second"), "a goes on");
		assert.deepEqual(await buttons(), ["first", "second"]);
	});

	it("are posted again once NATS is back, also if the progress of their delivery was stored before", async (t) => {
		const { nats, endpoint, a, b, connectTo } = await startPair(t);
		const store = await openClusterStore(t, nats, "store");
		const stored = (): unknown => store.list("event-cursor/")[0]?.value;
		await ask(await connectTo(b), "events/subscribe", hook(endpoint));
		await until(() => stored() !== undefined, "its beginning is stored");
		const beginning = stored();
		const device = await WireDevice.connect(t, a);
		device.notify(PRESSED, press("before"));
		await until(() => endpoint.messages.length === 1, "posted");
		await until(() => stored() !== beginning, "the progress is stored");
		await nats.kill();
		await untilOnline(b, false);
		await nats.run();
		await untilOnline(b, true);
		device.notify(PRESSED, press("after"));
		await until(() => endpoint.buttons.includes("after"), "posted");
	});

	it("are posted once, also if the client renews its subscription at another gateway, or ends it there", async (t) => {
		const { endpoint, a, b, connectTo } = await startPair(t);
		const [atA, atB] = [await connectTo(a), await connectTo(b)];
		const device = await WireDevice.connect(t, b);
		const { id } = await ask<{ id: string }>(atA, "events/subscribe", hook(endpoint));
		const secret = `whsec_${Buffer.alloc(24, 9).toString("base64")}`;
		const renewed = { ...hook(endpoint), delivery: { ...hook(endpoint).delivery, secret } };
		assert.equal((await ask<{ id: string }>(atB, "events/subscribe", hook(endpoint))).id, id);
		device.notify(PRESSED, press("one"));
		await until(() => endpoint.messages.length === 1, "posted");
		endpoint.secret = secret;
		await ask(atB, "events/subscribe", renewed);
		device.notify(PRESSED, press("two"));
		await until(() => endpoint.buttons.includes("two"), "signed by the new secret");
		assert.deepEqual(endpoint.buttons, ["one", "two"]);
		const { name, delivery } = hook(endpoint);
		await ask(atB, "events/unsubscribe", { name, delivery });
		const { cursor } = await ask(atB, "events/poll", { name: NAME });
		device.notify(PRESSED, press("three"));
		await until(async () => (await poll(atB, cursor)).length === 1, "recorded");
		assert.deepEqual(endpoint.buttons, ["one", "two"]);
	});

	it("are posted by another gateway once theirs was killed: none is lost, and those repeated have the same id", async (t) => {
		const { endpoint, nats, a, connectTo } = await startPair(t);
		const folder = makeStateFolder();
		copyFileSync(join(a.stateFolder, "device-key"), join(folder, "device-key"));
		const ports = ["--http-port", "0", "--websocket-port", "0", "--webhook-hosts", endpoint.host];
		const cluster = ["--cluster", nats.url, "--cluster-name", "killed", "--state-folder", folder];
		const { child, base } = await startListening(t, ["serve", "--no-announce", ...ports, ...cluster]);
		const client = await connectTo({ ...a, base });
		const device = await WireDevice.connect(t, a);
		await ask(client, "events/subscribe", hook(endpoint));
		device.notify(PRESSED, press("1"));
		await until(() => endpoint.messages.length === 1, "posted by the gateway that accepted it");
		// The killed gateway can no longer store the answers of this one.
		endpoint.statuses.push(...Array(3).fill(503));
		for (const button of ["2", "3", "4"]) {
			device.notify(PRESSED, press(button));
		}
		await until(() => endpoint.statuses.length < 3, "it tries to post");
		child.kill("SIGKILL");
		device.notify(PRESSED, press("5"));
		await until(() => endpoint.buttons.includes("5"), "posted by another gateway");
		const first = endpoint.messages.filter(({ id }, at, all) => all.findIndex((each) => each.id === id) === at);
		const seen = first.map(({ body }) => body.data.button);
		assert.deepEqual(seen, ["1", "2", "3", "4", "5"]);
	});
});
