import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { whyNoOpus } from "../../../host-test/support/optional-program.js";
import { skipIf, testWith, until } from "../../../host-test/support/testing.js";
import { ask, type Occurrence, rejection } from "../testing/events.js";
import {
	encode,
	ListeningDevice,
	type ListeningDeviceOptions,
	openRecognizer,
	speech,
} from "../testing/listening-device.js";
import { connect, startProgram } from "../testing/program.js";
import { VOICE } from "../testing/voice.js";

/** A gateway whose recognizer understands "water the plant", and how often it was asked. */
async function start(t: TestContext, own: ListeningDeviceOptions = {}) {
	const asked = { count: 0 };
	const service = await openRecognizer(t, (_, response) => {
		asked.count += 1;
		response.end('{"text":"Water the plant."}');
	});
	const side = await startProgram(t, { microphones: true, speechCommand: VOICE, ...service });
	const device = await ListeningDevice.connect(t, side, own);
	device.packets = await encode(speech(1));
	return { side, device, asked, client: await connect(t, side) };
}

const itStarted = testWith(start);

describe("speech after a press", { skip: skipIf(await whyNoOpus()) }, () => {
	itStarted("is an event for each subscriber, and then the device stops listening", async ({ device, client }) => {
		const { cursor } = await ask(client, "events/poll", { name: "speech.heard", cursor: null });
		device.listen();
		let events: Occurrence[] = [];
		await until(async () => {
			({ events } = await ask(client, "events/poll", { name: "speech.heard", cursor }));
			return events.length > 0;
		}, "it is heard");
		const found = events.map(({ data }) => data);
		assert.deepEqual(found, [{ device: "radio_000003", text: "Water the plant." }]);
		await until(() => !device.isListening, "it listens no more");
		assert.deepEqual(device.heard, ["listen stop", "stt Water the plant."]);
	});

	it("is heard on firmware of other makers, too", async (t) => {
		const { device, client } = await start(t, { family: "manual" });
		const { cursor } = await ask(client, "events/poll", { name: "speech.heard", cursor: null });
		device.listen();
		await until(
			async () => (await ask(client, "events/poll", { name: "speech.heard", cursor })).events.length > 0,
			"it is heard",
		);
	});

	itStarted("is ignored without a subscription to this device", async ({ device, client, asked }) => {
		await ask(client, "events/poll", { name: "speech.heard", cursor: null, arguments: { device: "another" } });
		device.listen();
		await client.callTool({ name: "say", arguments: { text: "tone 1", devices: ["all"] } });
		assert.deepEqual([asked.count, device.heard.includes("listen stop")], [0, false]);
	});

	it("is not recorded if the device listens after an announcement of the gateway", async (t) => {
		const { device, client, asked } = await start(t, { family: "auto" });
		await ask(client, "events/poll", { name: "speech.heard", cursor: null });
		await client.callTool({ name: "say", arguments: { text: "tone 1", devices: ["all"] } });
		assert.deepEqual([asked.count, device.isListening], [0, true]);
	});

	itStarted("is only for tokens that may listen", async ({ side }, t) => {
		const names = async (token: string): Promise<string[]> => {
			const client = await connect(t, side, token);
			const { events } = await ask<{ events: { name: string }[] }>(client, "events/list", {});
			return events.map(({ name }) => name).filter((name) => name === "speech.heard");
		};
		const plain = await side.tokens.add({ name: "plain", kind: "client", userTools: true, operator: true });
		const listener = await side.tokens.add({ name: "listener", kind: "client", microphone: true });
		assert.deepEqual([await names(plain), await names(listener)], [[], ["speech.heard"]]);
		const { message } = await rejection(await connect(t, side, plain), "events/poll", { name: "speech.heard" });
		assert.match(message, /Unknown event: speech\.heard/);
	});
});
