import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { AckPolicy, jetstreamManager } from "@nats-io/jetstream";
import { createInbox } from "@nats-io/transport-node";
import { until } from "../../../host-test/support/until.js";
import { WireDevice } from "../support/gateway.js";
import { jpeg, upload, visionOf } from "../support/pictures.js";
import { connect, type StartedProgram, startProgram } from "../support/program.js";
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
} from "./support/gateways.js";
import { NatsServer, whyNoNats } from "./support/nats-server.js";

/** The device that a message of the bucket is about. */
function idOf(subject: string): string {
	return Buffer.from(subject.split(".").at(-1) as string, "base64url").toString();
}

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

	it("has at most one session, however fast it moves", async (t) => {
		const { a, b } = await startTwo(t);
		const devices: WireDevice[] = [];
		for (const { deviceUrl } of [a, b, a, b, a, b]) {
			devices.push(await WireDevice.connectTo(t, deviceUrl));
		}
		const isHere = ({ gateway }: StartedProgram): boolean => {
			const session = gateway.servers.find(LAMP)?.session;
			return session !== undefined && session.identity.gateway === undefined;
		};
		const isSettled = (): boolean =>
			isHere(a) !== isHere(b) && [a, b].every(({ gateway }) => gateway.servers.find(LAMP)?.online === true);
		await until(isSettled, "one gateway has it, the other one knows");
		await setVolume(await connect(t, a), 1);
		await setVolume(await connect(t, b), 2);
		assert.equal(devices.flatMap(({ calls }) => calls).length, 2);
	});

	it("is offline everywhere, also if it disconnects before NATS has stored that it is online", async (t) => {
		const { nats, a, b } = await startTwo(t);
		// Its lists are stored now.
		await (await WireDevice.connect(t, a)).unplug();
		await until(() => b.gateway.servers.find(LAMP)?.online === false, "b knows it");
		nats.pause();
		await (await WireDevice.connect(t, a)).unplug();
		nats.resume();
		const later = "aa:bb:cc:00:00:02";
		await WireDevice.connect(t, a, { id: later });
		await until(() => b.gateway.servers.find(later)?.online === true, "b knows what a has stored later");
		await untilOnline(b, false);
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
		await until(() => b.gateway.servers.find("desk")?.session === undefined, "b has no session");
		await b.gateway.servers.forget(LAMP);
		for (const { gateway } of [a, c]) {
			await until(() => gateway.servers.find(LAMP) === undefined, "forgotten");
		}
	});

	it("keeps an alias and tags that it got, and stays forgotten, while NATS was away", async (t) => {
		const { nats, a, b } = await startTwo(t);
		const other = "aa:bb:cc:00:00:02";
		const devices = [await WireDevice.connect(t, a), await WireDevice.connect(t, a, { id: other })];
		for (const device of devices) {
			await device.unplug();
		}
		await until(() => [LAMP, other].every((id) => isKnownOffline(b, id)), "b knows them, offline");
		await nats.kill();
		await b.gateway.servers.edit(LAMP, { alias: "desk" });
		await b.gateway.servers.edit(LAMP, { tags: ["upstairs"] });
		await b.gateway.servers.forget(other);
		await nats.run();
		await until(() => a.gateway.servers.find("desk")?.tags.includes("upstairs") === true, "a has both");
		await until(() => a.gateway.servers.find(other) === undefined, "a has forgotten the other one");
		assert.deepEqual(b.gateway.servers.find("desk")?.tags, ["upstairs"]);
		assert.equal(b.gateway.servers.find(other), undefined);
	});

	it("is forgotten without hiding a change of another device from a gateway that does not know it yet", async (t) => {
		const { nats, a, b } = await startTwo(t);
		const other = "aa:bb:cc:00:00:02";
		for (const id of [LAMP, other]) {
			await (await WireDevice.connect(t, a, { id })).unplug();
		}
		await until(() => [LAMP, other].every((id) => isKnownOffline(b, id)), "b knows them, offline");
		// The watch of a gateway that has just connected: NATS has not sent it anything yet.
		const connection = await nats.connect(t);
		const subject = createInbox();
		const { consumers } = await jetstreamManager(connection);
		await consumers.add("KV_xsmcp_devices", { deliver_subject: subject, ack_policy: AckPolicy.None });
		await b.gateway.servers.forget(other);
		await until(() => a.gateway.servers.find(other) === undefined, "a has forgotten it");
		const received: string[] = [];
		connection.subscribe(subject, { callback: (_, message) => void received.push(idOf(message.subject)) });
		await until(() => received.includes(other), "NATS has sent everything");
		assert.deepEqual(received, [LAMP, other]);
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
		const stopped = a.program.close();
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

	it("starts with a clear error without NATS, and with a name that is in use", async (t) => {
		const nats = await NatsServer.start(t);
		await startCluster(t, nats, ["a"]);
		await assert.rejects(startCluster(t, nats, ["a"]), /another gateway of the cluster is named a/);
		await nats.kill();
		await assert.rejects(
			startProgram(t, { cluster: nats.url, clusterName: "b" }),
			/cluster: nats:.*(refused|CONNECTION)/i,
		);
	});
});
