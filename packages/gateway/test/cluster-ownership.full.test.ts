import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { freePort, until } from "../../../host-test/support/testing.js";
import { Gate } from "../testing/gate.js";
import { WireDevice } from "../testing/gateway.js";
import {
	callUntilArrived,
	isKnownOffline,
	LAMP,
	setVolume,
	startCluster,
	startTwo,
	startTwoWithLamp,
	untilAt,
	untilOnline,
	VOLUME,
} from "../testing/gateways.js";
import { NatsServer, whyNoNats } from "../testing/nats-server.js";
import { jpeg, upload, visionOf } from "../testing/pictures.js";
import { connect, type StartedProgram, startProgram } from "../testing/program.js";

describe("a device of a cluster", { skip: whyNoNats }, () => {
	it("belongs to the gateway of its newest session, which alone answers", async (t) => {
		const { a, b } = await startTwo(t);
		const [clientOfA, clientOfB] = [await connect(t, a), await connect(t, b)];
		const first = await WireDevice.connect(t, a);
		await untilAt(b, "a");
		const second = await WireDevice.connect(t, b);
		await first.disconnected();
		await untilAt(a, "b");
		assert.equal(await setVolume(clientOfA, 1), "true");
		assert.equal(await setVolume(clientOfB, 2), "true");
		assert.deepEqual([first.calls.length, second.calls.length], [0, 2]);
		const third = await WireDevice.connect(t, a);
		await second.disconnected();
		await untilAt(b, "a");
		assert.equal(await setVolume(clientOfB, 3), "true");
		assert.deepEqual([first.calls.length, second.calls.length, third.calls.length], [0, 2, 1]);
	});

	it("keeps its alias and tags everywhere, and is forgotten everywhere", async (t) => {
		const { nats, a, b, device } = await startTwoWithLamp(t);
		await b.gateway.servers.edit(LAMP, { alias: "desk" });
		await until(() => a.gateway.servers.find("desk") !== undefined, "a has the alias of b");
		await a.gateway.servers.edit(LAMP, { tags: ["upstairs"] });
		await until(() => b.gateway.servers.find("desk")?.tags.includes("upstairs") === true, "b has the tags of a");
		await device.unplug();
		await untilOnline(b, false);
		const c = (await startCluster(t, nats, ["c"]))[0] as StartedProgram;
		await until(() => c.gateway.servers.find("desk") !== undefined, "c knows a device that is offline");
		assert.equal(c.gateway.servers.find("desk")?.tools.length, 2);
		await until(() => b.gateway.servers.find("desk")?.connection === undefined, "b has no session");
		await b.gateway.servers.forget(LAMP);
		for (const { gateway } of [a, c]) {
			await until(() => gateway.servers.find(LAMP) === undefined, "forgotten");
		}
	});

	it("keeps its alias and tags, and is not forgotten, while NATS is away: changes are refused", async (t) => {
		const { nats, a, b } = await startTwo(t);
		await (await WireDevice.connect(t, a)).unplug();
		await until(() => isKnownOffline(b), "b knows it, offline");
		await nats.kill();
		const refused = { name: "StoreError", message: /^the cluster's store (is unreachable|does not answer)/ };
		await assert.rejects(b.gateway.servers.edit(LAMP, { alias: "desk" }), refused);
		await assert.rejects(b.gateway.servers.edit(LAMP, { tags: ["upstairs"] }), refused);
		await assert.rejects(b.gateway.servers.forget(LAMP), refused);
		assert.deepEqual([b.gateway.servers.find("desk"), b.gateway.servers.find(LAMP)?.tags], [undefined, []]);
		await nats.run();
		await until(async () => {
			const edited = b.gateway.servers.edit(LAMP, { alias: "desk" });
			return (await edited.catch(() => undefined)) !== undefined;
		}, "the change is accepted again");
		await until(() => a.gateway.servers.find("desk") !== undefined, "a has the alias");
	});

	it("gets an alias at once when it connects for the first time while NATS is away, and keeps it if it is free", async (t) => {
		const { nats, a, b } = await startTwo(t);
		await nats.kill();
		await WireDevice.connect(t, a);
		assert.equal(a.gateway.servers.find("lamp_000001")?.online, true);
		const twin = "aa:bb:dd:00:00:01";
		await WireDevice.connect(t, b, { id: twin });
		await nats.run();
		const aliases = ({ gateway }: StartedProgram) => [LAMP, twin].map((id) => gateway.servers.find(id)?.alias);
		await until(() => {
			const [first, second] = aliases(a);
			return first !== undefined && second !== undefined && String(aliases(a)) === String(aliases(b));
		}, "both have different aliases, which both gateways show");
		assert.equal(new Set(aliases(a)).size, 2);
		assert.ok(aliases(a).includes("lamp_000001"));
	});

	it("is offline, not forgotten, while it is gone, and stays forgotten if its gateway could not reach NATS meanwhile", async (t) => {
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
		gate.restore();
		await until(() => a.gateway.servers.find(LAMP) === undefined, "a has forgotten it");
		await until(() => a.log().includes("the connection to NATS is back"), "NATS is back");
		assert.equal(b.gateway.servers.find(LAMP), undefined);
	});

	it("sends pictures of 2 MB to clients of other gateways", async (t) => {
		const { a, b } = await startTwo(t);
		const tool = {
			name: "self.camera.take_photo",
			description: "Take a photo.",
			inputSchema: { type: "object", properties: { question: { type: "string" } }, required: ["question"] },
		};
		const file = jpeg(2_000_000);
		const device = await WireDevice.connect(t, a, {
			tools: [tool],
			onCall({ id }, self) {
				void upload({ ...visionOf(self), question: "what", file }).then(() => self.answer(id, { content: [] }));
				return undefined;
			},
		});
		await untilAt(b, "a");
		const client = await connect(t, b);
		const result = await client.callTool({
			name: "lamp_000001__self_camera_take_photo",
			arguments: { question: "what" },
		});
		assert.deepEqual(result.content, [{ type: "image", mimeType: "image/jpeg", data: file.toString("base64") }]);
		assert.equal(device.calls.length, 1);
	});

	it("reports updates of its resources to clients of other gateways, also after it has moved", async (t) => {
		const options = {
			capabilities: { tools: {}, resources: { subscribe: true } },
			answers: { "resources/list": () => ({ resources: [{ uri: "lamp://light", name: "light" }] }) },
		};
		const { b, device } = await startTwoWithLamp(t, options);
		const server = b.gateway.servers.find(LAMP);
		const updated: string[] = [];
		b.gateway.servers.on("updated", (_server, uri) => void updated.push(uri));
		await server?.subscriptions.add("lamp://light");
		assert.equal(device.askedBy("resources/subscribe").length, 1);
		device.notify("notifications/resources/updated", { uri: "lamp://light" });
		await until(() => updated.length === 1, "the update has arrived");
		const moved = await WireDevice.connect(t, b, options);
		await until(() => moved.askedBy("resources/subscribe").length === 1, "it is asked again");
	});

	it("finishes a call of another gateway's client before its gateway stops", async (t) => {
		const { a, b, device } = await startTwoWithLamp(t, { onCall: () => undefined });
		const client = await connect(t, b);
		const { result: call } = await callUntilArrived(device, () => setVolume(client, 1));
		const stopped = a.gateway.close();
		await new Promise((resolve) => setTimeout(resolve, 100));
		device.answer(device.calls[0]?.id as number, { content: [{ type: "text", text: "just in time" }] });
		assert.equal(await call, "just in time");
		await stopped;
		await untilOnline(b, false);
		await WireDevice.connect(t, b);
		assert.equal(await setVolume(client, 2), "true");
	});
});

describe("a cluster that loses NATS", { skip: whyNoNats }, () => {
	it("goes on with local devices, says that others cannot be reached, and heals", async (t) => {
		const { nats, a, b } = await startTwo(t);
		await WireDevice.connect(t, a);
		const other = await WireDevice.connect(t, b, { id: "aa:bb:cc:00:00:02", onCall: () => undefined });
		await untilAt(b, "a");
		await until(() => a.gateway.servers.find("lamp_000002")?.online === true, "a knows the other");
		const [clientOfA, clientOfB] = [await connect(t, a), await connect(t, b)];
		const { result: pending } = await callUntilArrived(other, () =>
			clientOfA.callTool({ name: VOLUME.replace("000001", "000002"), arguments: { volume: 1 } }),
		);
		await nats.kill();
		assert.match(JSON.stringify((await pending).content), /may have been carried out/);
		assert.equal(await setVolume(clientOfA, 1), "true");
		await untilOnline(b, false);
		assert.match(await setVolume(clientOfB, 1), /is offline|cannot be reached/);
		const moved = await WireDevice.connect(t, b);
		assert.equal(await setVolume(clientOfB, 2), "true");
		await nats.run();
		await untilAt(a, "b");
		assert.equal(await setVolume(clientOfA, 3), "true");
		assert.equal(moved.calls.length, 2);
		await until(() => a.gateway.servers.find("lamp_000002")?.online === true, "the other one is back");
	});

	it("refuses a name that is in use", async (t) => {
		const nats = await NatsServer.start(t);
		await startCluster(t, nats, ["a"]);
		await assert.rejects(startCluster(t, nats, ["a"]), /another gateway of the cluster is named a/);
		const [other] = (await startCluster(t, nats, ["a"], { clusterPrefix: "other" })) as [StartedProgram];
		assert.deepEqual(other.gateway.servers.all, []);
	});

	it("answers with 503 while it waits for NATS at the start, and is degraded while NATS is lost", async (t) => {
		const nats = await NatsServer.start(t);
		await nats.kill();
		const httpPort = await freePort();
		const started = startCluster(t, nats, ["a"], { httpPort });
		const statusOf = async (path: string) =>
			(await fetch(`http://127.0.0.1:${httpPort}${path}`).catch(() => undefined))?.status;
		for (const path of ["/mcp", "/healthz", "/xiaozhi/ota/"]) {
			await until(async () => (await statusOf(path)) === 503, `${path} is answered`);
		}
		await nats.run();
		const [a] = (await started) as [StartedProgram];
		assert.equal(a.log().split("waiting for NATS").length, 2, "said once");
		const health = async () => await (await fetch(`${a.base}/healthz`)).json();
		assert.deepEqual(await health(), { status: "ok" });
		await nats.kill();
		const lost = { status: "degraded", problem: "the cluster's store is unreachable" };
		await until(async () => JSON.stringify(await health()) === JSON.stringify(lost), "it is degraded");
		await nats.run();
		await until(async () => (await health()).status === "ok", "it is well again");
		assert.equal(a.log().split("the connection to NATS is lost").length, 2, "said once");
	});
});
