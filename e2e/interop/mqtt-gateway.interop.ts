import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { sharePackets } from "xs-mcp-gateway/speech";
import { readWav } from "xs-mcp-gateway/wav";
import { correlation } from "../../host-test/support/correlation.js";
import { whyMissing, whyNoOpus } from "../../host-test/support/optional-program.js";
import { decode, follow } from "../../host-test/support/sounds.js";
import { samplesOf, speak } from "../../host-test/support/speak.js";
import { listenForSockets, skipIf, until } from "../../host-test/support/testing.js";
import { openBackend } from "../speech-backend.js";
import { startDevice } from "./device.js";
import { credentials, startMqttGateway } from "./mqtt-gateway.js";
import { findPeer } from "./peers.js";
import { Relay } from "./relay.js";
import { ScriptedModel } from "./scripted-model.js";
import { startXiaozhiServer } from "./xiaozhi-server.js";

const { title, folder = "", skip } = findPeer("XIAOZHI_MQTT_GATEWAY");
const server = findPeer("XIAOZHI_SERVER");

const NO_SPEECH = skipIf(await whyNoOpus()) || skipIf(whyMissing("espeak-ng", "espeak-ng"));

const MAC = "02:00:00:00:1a:01";

async function startChatServer(t: TestContext): Promise<string> {
	const { server: chat, url } = await listenForSockets(t);
	chat.on("connection", (socket) =>
		socket.once("message", () =>
			socket.send('{"type":"hello","transport":"websocket","session_id":"chat-1","audio_params":{}}'),
		),
	);
	return url;
}

/** @param settings of the device, besides those that the bootstrap gives */
async function connect(t: TestContext, chatServer: string, settings: object = {}) {
	const gateway = await startMqttGateway(t, folder, chatServer);
	const { clientId, username, password, publishTopic, subscribeTopic } = credentials(MAC);
	const config = {
		backend: `mqtt://${gateway.endpoint}`,
		clientId,
		mqttUsername: username,
		mqttPassword: password,
		publishTopic,
		subscribeTopic,
		...settings,
	};
	const { device, log } = await startDevice(t, config, MAC);
	await until(() => gateway.program.output.includes("初始化设备工具成功"), "the gateway has the tools").catch((error) =>
		assert.fail(`${error.message}: ${log.join("\n")}\n${gateway.program.output.slice(-3000)}`),
	);
	return { gateway, device, log, clientId };
}

describe(title, { skip }, () => {
	for (const [what, settings] of [
		["with the topics that the bootstrap gives", {}],
		['with the subscribe topic "null"', { subscribeTopic: "null" }],
	] as const) {
		it(`a virtual device over MQTT, ${what}: hello, initialize, tools/list, a call`, async (t) => {
			const { gateway, clientId, log } = await connect(t, await startChatServer(t), settings);
			assert.match(gateway.program.output, /name: 'self\.audio_speaker\.set_volume'|"self\.audio_speaker\.set_volume"/);
			const call = { name: "self.audio_speaker.set_volume", arguments: { volume: 42 } };
			const { body } = await gateway.request(clientId, "tools/call", call);
			assert.equal(body.data?.content?.[0]?.text, "true", JSON.stringify(body));
			const wrong = { name: "self.audio_speaker.set_volume", arguments: { volume: 400 } };
			const { body: rejected } = await gateway.request(clientId, "tools/call", wrong);
			assert.match(rejected.error ?? "", /volume/);
			await until(() => log.some((line) => line.includes("chat-1") || line.includes("session")), "a session");
			t.diagnostic(`rejected: ${rejected.error}`);
		});
	}

	it("a virtual device over MQTT, by voice: what it hears comes to the chat server by UDP, and its speaker plays the answer", {
		skip: NO_SPEECH,
	}, async (t) => {
		const chat = await openBackend(t, 2);
		const { device } = await connect(t, chat.url);
		await chat.greeted;
		const states: string[] = [];
		device.on("screen", ({ state }) => states.push(state));
		const question = speak("Hello, how are you?");
		device.hear(question);
		await device.press();
		const source = samplesOf(question, 16_000);
		await until(() => chat.packets.length * 960 > source.length + 16_000, "it is heard");
		const heard = await decode(chat.packets, 16_000);
		const asked = correlation(source, heard, 16_000);
		assert.ok(asked >= 0.9, `microphone: correlation ${asked}`);
		const answer = speak("I am fine.");
		const played = follow(device);
		chat.say({ type: "tts", state: "start", session_id: "s" });
		await until(() => states.at(-1) === "speaking", "it speaks");
		for await (const packet of await sharePackets(readWav(answer))) {
			chat.send(packet);
		}
		await until(() => played.samples().length > 0, "it plays");
		chat.say({ type: "tts", state: "stop", session_id: "s" });
		await until(() => states.at(-1) !== "speaking", "it has spoken");
		const answered = correlation(samplesOf(answer, 24_000), played.samples(), 24_000);
		assert.ok(answered >= 0.9, `speaker: correlation ${answered}`);
		t.diagnostic(`microphone ${asked.toFixed(3)}, speaker ${answered.toFixed(3)}`);
	});

	it("a virtual device over MQTT, in front of xiaozhi-esp32-server: a tool called by the server's language model", {
		skip: server.skip,
	}, async (t) => {
		const model = await ScriptedModel.listen(t, {
			name: "self_audio_speaker_set_volume",
			arguments: { volume: 43 },
		});
		const { url } = await startXiaozhiServer(t, server.folder ?? "", { modelUrl: model.url });
		const relay = await Relay.listen(t, `${url}?from=mqtt_gateway`);
		await connect(t, relay.url);
		await relay.saw("a list of tools from the gateway's cache", ({ from, message }) => {
			return from === "device" && message.payload?.result?.tools?.length > 0;
		});
		await until(() => relay.seen.length > 5, "initialized");
		relay.sayAsDevice({ type: "listen", state: "detect", text: "volume 43, please" });
		await until(() => model.results.length > 0, "the model has the tool's result");
		assert.deepEqual(model.results, ["true"]);
	});
});
