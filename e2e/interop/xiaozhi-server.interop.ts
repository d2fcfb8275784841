import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { whyNoChromium } from "../../host-test/support/chromium.js";
import { whyMissing, whyNoOpus } from "../../host-test/support/optional-program.js";
import { samplesOf, speak } from "../../host-test/support/speak.js";
import { likenessOfPieces, talkAtPage } from "../../host-test/support/talking-page.js";
import { skipIf, until } from "../../host-test/support/testing.js";
import { BINDING_CODE, BindingManager } from "./binding-manager.js";
import { startDevice } from "./device.js";
import { findPeer } from "./peers.js";
import { whyNoPackages } from "./python.js";
import { Relay } from "./relay.js";
import { type ScriptedCall, ScriptedModel, TRANSCRIPT } from "./scripted-model.js";
import { startXiaozhiServer } from "./xiaozhi-server.js";

const { title, folder = "", skip } = findPeer("XIAOZHI_SERVER");

const NO_VOICE =
	whyNoChromium ||
	skipIf(await whyNoOpus()) ||
	skipIf(whyMissing("espeak-ng", "espeak-ng")) ||
	skipIf(whyNoPackages("onnxruntime", "pydub"));

const SET_VOLUME = { name: "self_audio_speaker_set_volume", arguments: { volume: 41 } };

const spoken = (text: string): object => ({ type: "listen", state: "detect", text });

async function connect(t: TestContext, call: ScriptedCall | string, config: Record<string, unknown> = {}) {
	const model = await ScriptedModel.listen(t, call);
	const server = await startXiaozhiServer(t, folder, { modelUrl: model.url });
	const relay = await Relay.listen(t, server.url);
	const { device, log } = await startDevice(t, { backend: relay.url, ...config });
	await relay.saw("the server's list of tools is complete", ({ from, message }) => {
		return from === "device" && message.payload?.id === 2 && message.payload.result.nextCursor === undefined;
	});
	await until(() => server.program.output.includes("客户端设备支持的工具数量"), "the server has the tools");
	return { model, server, relay, device, log };
}

describe(title, { skip }, () => {
	it("a virtual device over WebSocket: hello, initialize, tools/list, a tool called by the server's language model", async (t) => {
		const { model, relay, device } = await connect(t, SET_VOLUME);
		const hello = await relay.saw("a hello", ({ from, message }) => from === "backend" && message.type === "hello");
		assert.equal(hello.transport, "websocket");
		const list = await relay.saw("a list", ({ from, message }) => from === "device" && message.payload?.id === 2);
		relay.sayAsDevice(spoken("volume 41, please"));
		await until(() => model.results.length > 0, "the model has the tool's result");
		assert.deepEqual(model.results, ["true"]);
		t.diagnostic(`${list.payload.result.tools.length} tools, ${device.engineName}`);
	});

	it("a text that is typed at the device: the model's Chinese answer comes to its screen and its prompt", async (t) => {
		const { model, relay, device } = await connect(t, "😆今天天气很好,最高25度。");
		const notes: string[] = [];
		const shown: string[] = [];
		device.on("note", (text) => notes.push(text));
		device.on("screen", ({ message, emotion }) => shown.push(`${emotion}: ${message}`));
		device.say("今天天气怎么样?");
		await relay.saw("the end", ({ from, message }) => from === "backend" && message.state === "stop");
		assert.deepEqual(model.queries, ["今天天气怎么样?"]);
		assert.deepEqual(notes, [
			"you: 今天天气怎么样?",
			"assistant (laughing): 今天天气很好",
			"assistant (laughing): 最高25度",
		]);
		assert.ok(shown.includes("laughing: 今天天气很好") && shown.includes("laughing: 最高25度"), shown.join("\n"));
		t.diagnostic(notes.join(" | "));
	});

	it("a conversation by voice at the device's page: the server's recognizer has what a person says, and the page plays the answer", {
		skip: NO_VOICE,
	}, async (t) => {
		const model = await ScriptedModel.listen(t, "It is sunny.");
		model.speak = speak;
		const server = await startXiaozhiServer(t, folder, { modelUrl: model.url, hasSound: true });
		const { device } = await startDevice(t, { backend: server.url });
		await until(() => server.program.output.includes("客户端设备支持的工具数量"), "the server has the tools");
		const person = await talkAtPage(t, device, "How is the weather today?", 2);
		await person.page.getByRole("button", { name: "boot" }).click();
		await person.toggleMicrophone("off");
		// The first recording may begin in the middle of the sentence. After its answer the device listens again.
		const asked: number[] = [];
		await until(() => {
			const next = model.recordings[asked.length];
			if (next !== undefined) {
				asked.push(likenessOfPieces(person.said, samplesOf(next, 16_000)));
			}
			return asked.some((likeness) => likeness >= 0.9);
		}, "the recognizer has the sentence");
		await person.toggleMicrophone("on");
		const answered = await person.likenessTo("It is sunny.");
		assert.ok(answered >= 0.9, `speaker: correlation ${answered}`);
		assert.ok(
			model.queries.every((query) => query === TRANSCRIPT),
			model.queries.join(),
		);
		assert.deepEqual(person.complaints, []);
		t.diagnostic(`microphone ${asked.at(-1)?.toFixed(3)}, speaker ${answered.toFixed(3)}`);
	});

	it("an event of the device: the model hears of a press, and answers by a tool and by words", async (t) => {
		const { model, relay, device } = await connect(t, SET_VOLUME, { events: "button" });
		await device.press();
		await relay.saw("the end", ({ from, message }) => from === "backend" && message.state === "stop");
		assert.match(model.queries[0] ?? "", /The button "boot" was pressed/);
		assert.deepEqual(model.results, ["true"]);
	});

	it("a call with a wrong argument: the server has the reason", async (t) => {
		const { relay, server } = await connect(t, { name: "self_audio_speaker_set_volume", arguments: { volume: 400 } });
		relay.sayAsDevice(spoken("volume 400, please"));
		const answer = await relay.saw(
			"an answer",
			({ from, message }) => from === "device" && message.payload?.id === 1 && "error" in message.payload,
		);
		const { message } = answer.payload.error;
		await until(() => server.program.output.includes(`收到MCP错误响应: ${message}`), "the server logs the reason");
		t.diagnostic(message);
	});

	it("take_photo: the picture is uploaded to the server with its token, and the answer is the tool's result", async (t) => {
		const { relay, server } = await connect(t, {
			name: "self_camera_take_photo",
			arguments: { question: "What is there?" },
		});
		relay.sayAsDevice(spoken("take a photo, please"));
		await relay.saw("the call", ({ from, message }) => from === "backend" && message.payload?.method === "tools/call");
		const answer = await relay.saw("the answer", ({ from, message }) => {
			return (
				from === "device" && message.payload?.id === 1 && (message.payload.result?.content ?? message.payload.error)
			);
		});
		// The server's vision model is a stand-in, and says nothing.
		const { success, action } = JSON.parse(answer.payload.result.content[0].text);
		assert.deepEqual([success, action], [true, "RESPONSE"], server.program.output.slice(-1500));
	});

	it("an unbound device shows the code that came before hello, and is served once it is bound", async (t) => {
		const model = await ScriptedModel.listen(t, SET_VOLUME);
		const manager = await BindingManager.listen(t, model.url);
		const server = await startXiaozhiServer(t, folder, { managerUrl: manager.url });
		const relay = await Relay.listen(t, server.url);
		const shown: string[] = [];
		const { device } = await startDevice(t, { backend: relay.url });
		device.on("screen", ({ message }) => shown.push(message ?? ""));
		const { text } = await relay.saw("the code", ({ message }) => message.type === "stt");
		assert.ok(text.includes(BINDING_CODE), text);
		await until(() => shown.some((each) => each.includes(BINDING_CODE)), "the code is on the screen");
		manager.bound = true;
		await relay.saw("a list of tools", ({ from, message }) => from === "device" && message.payload?.id === 2);
	});

	it("a server that ends idle sessions: the device comes back, and waits longer the second time", {
		timeout: 300_000,
	}, async (t) => {
		// The server adds 60 seconds, and looks every 10. A session is idle for the device after half a minute to a minute.
		const server = await startXiaozhiServer(t, folder, { more: { close_connection_no_voice_time: 1 } });
		const { log } = await startDevice(t, { backend: server.url });
		const delays = (): number[] => log.flatMap((line) => /next attempt in (\d+) ms/.exec(line)?.[1] ?? []).map(Number);
		await until(() => delays().length >= 2, "two sessions ended");
		const [first = 0, second = 0] = delays();
		assert.ok(second > first, log.join("\n"));
		t.diagnostic(`${first} ms, then ${second} ms`);
	});
});
