import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import type { Client } from "@modelcontextprotocol/client";
import { whyNoOpus } from "../../../host-test/support/optional-program.js";
import { fileIn, PATIENT, readForm, skipIf, testWith, until } from "../../../host-test/support/testing.js";
import { readWav } from "../src/speech/wav.js";
import { toolNames } from "../testing/gateway.js";
import {
	encode,
	ListeningDevice,
	type ListeningDeviceOptions,
	openRecognizer,
	speech,
} from "../testing/listening-device.js";
import { connect, startProgram } from "../testing/program.js";
import { callForTask, connectForTasks } from "../testing/tasks.js";
import { VOICE } from "../testing/voice.js";

/** A program that writes the duration of its input and where it came from. */
const PROGRAM = `${process.execPath} "${fileURLToPath(new URL("../testing/recognizer.mjs", import.meta.url))}"`;

const NAME = "radio_000003";

interface Result {
	readonly text: string;
	readonly isError: boolean;
	readonly structured: Readonly<Record<string, unknown>>;
	readonly content: readonly { type: string; text?: string; data?: string; mimeType?: string }[];
}

async function listen(client: Client, args: object = {}, signal?: AbortSignal): Promise<Result> {
	const options = { ...PATIENT, ...(signal && { signal }) };
	const result = await client.callTool({ name: "listen", arguments: { device: NAME, ...args } }, options);
	const content = result.content as Result["content"];
	const structured = (result.structuredContent ?? {}) as Result["structured"];
	return { text: content[0]?.text ?? "", isError: result.isError === true, structured, content };
}

/** A gateway with a program as the recognizer, a device, and a client. */
async function start(
	t: TestContext,
	settings: Parameters<typeof startProgram>[1] = {},
	own: ListeningDeviceOptions = {},
) {
	const side = await startProgram(t, { microphones: true, transcriptionCommand: PROGRAM, ...settings });
	const device = await ListeningDevice.connect(t, side, own);
	return { side, device, client: await connect(t, side) };
}

const itStarted = testWith(start);

describe("listen", { skip: skipIf(await whyNoOpus()) }, () => {
	it("makes the device listen until the silence after speech, and returns the text", async (t) => {
		const { device, client } = await start(t);
		device.packets = await encode(speech(2));
		const { text, structured } = await listen(client, { seconds: 30 });
		assert.match(text, /^16000 Hz, \d\.\d s, by its input$/);
		assert.deepEqual({ ...structured, seconds: 0 }, { device: NAME, heard: true, text, seconds: 0, ended: "silence" });
		const seconds = structured.seconds as number;
		assert.ok(seconds > 2.5 && seconds < 5, `${seconds} s`);
		await until(() => !device.isListening, "it listens no more");
		assert.deepEqual(device.heard, ["listen start", "listen stop", `stt ${text}`]);
	});

	itStarted("reports that there was no speech, without calling the recognizer", async ({ device, client }) => {
		device.packets = await encode(new Int16Array(16_000).map((_, at) => 20 * Math.sin(at * at)));
		const { text, isError, structured } = await listen(client, { seconds: 1 });
		assert.deepEqual([text, isError, structured.ended], ["Nobody spoke.", false, "time"]);
	});

	itStarted("ends when the person ends it at the device", async ({ device, client }) => {
		device.packets = await encode(speech(3).subarray(0, 24_000));
		const listening = listen(client, { seconds: 30 });
		await until(() => device.isListening, "it listens");
		device.stopListening();
		const { structured } = await listening;
		assert.equal(structured.ended, "stopped");
	});

	itStarted("returns the sound only if it is asked for", async ({ device, client }) => {
		device.packets = await encode(speech(1));
		const { content } = await listen(client, { seconds: 30, audio: true });
		const found = content.map(({ type, mimeType }) => [type, mimeType]);
		assert.deepEqual(found, [
			["text", undefined],
			["audio", "audio/wav"],
		]);
		const { sampleRate, samples } = readWav(Buffer.from(content[1]?.data ?? "", "base64"));
		assert.ok(sampleRate === 16_000 && samples.length > 2 * 16_000);
	});

	for (const [reason, told] of [
		["muted", "its microphone is muted"],
		["no microphone", "it has no microphone"],
	] as const) {
		it(`says why it does not listen: ${told}`, async (t) => {
			const { client } = await start(t, {}, { refuses: reason });
			const { text, isError } = await listen(client);
			assert.deepEqual([text, isError], [`listen: ${NAME}: ${told}`, true]);
		});
	}

	it("begins by an empty announcement on firmware that knows no listen message", async (t) => {
		const { device, client } = await start(t, {}, { family: "auto" });
		device.packets = await encode(speech(1));
		const { structured } = await listen(client, { seconds: 30 });
		assert.equal(structured.heard, true);
		assert.deepEqual(device.heard.slice(0, 2), ["tts start", "tts stop"]);
	});

	it("tells to press its button if such firmware does not listen by itself; once it does, it is heard", async (t) => {
		const { side, device, client } = await start(t, {}, { family: "manual" });
		const { text } = await listen(client);
		assert.match(text, /has not begun to listen within 3 s: .* press its button or say its wake word/);
		device.listen();
		const packets = await encode(speech(1));
		const listening = listen(client, { seconds: 30 });
		await until(() => side.log().match(/"msg":"listening"/g)?.length === 2, "the gateway listens");
		for (const packet of packets) {
			device.send(packet);
		}
		assert.equal((await listening).structured.heard, true);
	});

	itStarted("fails if the device is offline, or goes offline during the recording", async ({ device, client }) => {
		const listening = listen(client, { seconds: 30 });
		await until(() => device.isListening, "it listens");
		await device.unplug();
		assert.match((await listening).text, /^listen: radio_000003: it disconnected: the device closed the connection$/);
		assert.equal((await listen(client)).text, "listen: radio_000003: offline");
	});

	itStarted("fails if the device sends no packets, or none that is Opus", async ({ side, device, client }) => {
		device.packets = Array.from({ length: 7 }, () => Uint8Array.of(0xff, 0xff, 1, 2));
		assert.match((await listen(client, { seconds: 1 })).text, /none of the 7 packets that it sent is Opus$/);
		assert.match((await listen(client, { seconds: 1 })).text, /it sent no sound: it may have no microphone$/);
		assert.match(side.log(), /audio dropped/);
	});

	itStarted("is bounded, however much the device sends", async ({ device, client }, t) => {
		const [packet = new Uint8Array(0)] = await encode(speech(1));
		const listening = listen(client, { seconds: 30, until: "time", audio: true });
		await until(() => device.isListening, "it listens");
		const flood = setInterval(() => {
			for (let count = 0; count < 500; count += 1) {
				device.send(packet);
			}
		}, 50);
		t.after(() => clearInterval(flood));
		const { structured, content } = await listening;
		assert.deepEqual([structured.seconds, structured.ended], [30, "time"]);
		assert.equal(readWav(Buffer.from(content[1]?.data ?? "", "base64")).samples.length, 2 * 30 * 16_000);
	});

	it("waits for its turn while another one listens, or the device speaks", async (t) => {
		const { device, client } = await start(t, { speechCommand: VOICE });
		device.packets = await encode(speech(1));
		const said = client.callTool({ name: "say", arguments: { text: "tone 1", devices: ["all"] } });
		const [first, second] = [listen(client, { seconds: 30 }), listen(client, { seconds: 1 })];
		await said;
		await Promise.all([first, second]);
		assert.deepEqual(
			device.heard.filter((each) => !each.startsWith("stt") && !each.includes("sentence")),
			["tts start", "tts stop", "listen start", "listen stop", "listen start", "listen stop"],
		);
	});

	itStarted("ends when the client cancels its call, and the device stops listening", async ({ device, client }) => {
		const cancel = new AbortController();
		const listening = listen(client, { seconds: 30 }, cancel.signal);
		await until(() => device.isListening, "it listens");
		cancel.abort();
		await assert.rejects(listening);
		await until(() => !device.isListening, "it listens no more");
	});

	it("is interrupted by an urgent announcement", async (t) => {
		const { device, client } = await start(t, { speechCommand: VOICE });
		const listening = listen(client, { seconds: 30 });
		await until(() => device.isListening, "it listens");
		await client.callTool({ name: "say", arguments: { text: "fire", devices: ["all"], urgent: true } });
		assert.match((await listening).text, /interrupted by an urgent announcement$/);
	});

	itStarted("reports its progress", async ({ device, client }) => {
		device.packets = await encode(speech(1));
		const messages: unknown[] = [];
		const onprogress = ({ message }: { message?: string | undefined }) => void messages.push(message);
		await client.callTool({ name: "listen", arguments: { device: NAME, seconds: 30 } }, { onprogress });
		assert.deepEqual(messages, [`${NAME} listens`, "turning the speech into text"]);
	});

	itStarted("becomes a task, with the progress as its status", async ({ side, device }, t) => {
		const { get, cancel } = await connectForTasks(t, new URL(`${side.base}/mcp`));
		const clientUrl = () => new URL(`${side.base}/mcp`);
		const { result } = await callForTask({ clientUrl }, "listen", { device: NAME, seconds: 30 });
		const { taskId, status } = result as { taskId: string; status: string };
		assert.equal(status, "working");
		await until(async () => (await get(taskId)).statusMessage === `${NAME} listens`, "the task says that it listens");
		assert.ok(device.isListening);
		await cancel(taskId);
		await until(() => !device.isListening, "it listens no more");
	});

	itStarted("rejects wrong arguments with the argument's name", async ({ client }) => {
		assert.match((await listen(client, { seconds: 31 })).text, /^listen: seconds: .*30/);
		assert.match(
			(await listen(client, { device: "cellar" })).text,
			/^listen: device: no device "cellar"; expected radio_000003$/,
		);
	});
});

describe("who may listen", { skip: skipIf(await whyNoOpus()) }, () => {
	const toolsOf = async (client: Client) => (await toolNames(client)).filter((name) => /^(listen|ask)$/.test(name));

	it("is not offered without the setting", async (t) => {
		const side = await startProgram(t, { transcriptionCommand: PROGRAM });
		assert.deepEqual(await toolsOf(await connect(t, side)), []);
	});

	itStarted("is offered only to a token with the permission, for its own devices", async ({ side, device }, t) => {
		const own = { kind: "client", microphone: true } as const;
		const tokens = {
			plain: await side.tokens.add({ name: "plain", kind: "client", userTools: true, operator: true }),
			reader: await side.tokens.add({ name: "reader", ...own, readOnly: true }),
			elsewhere: await side.tokens.add({ name: "elsewhere", ...own, devices: ["aa:bb:cc:00:00:99"] }),
			listener: await side.tokens.add({ name: "listener", ...own }),
		};
		assert.deepEqual(await toolsOf(await connect(t, side, tokens.plain)), []);
		assert.deepEqual(await toolsOf(await connect(t, side, tokens.reader)), []);
		assert.match((await listen(await connect(t, side, tokens.elsewhere))).text, /no device "radio_000003"/);
		device.packets = await encode(speech(1));
		const client = await connect(t, side, tokens.listener);
		assert.deepEqual(await toolsOf(client), ["listen", "ask"]);
		assert.equal((await listen(client, { seconds: 30 })).structured.heard, true);
	});

	it("is not offered to a token without the permission that replaces one of the same name", async (t) => {
		const { side } = await start(t);
		const listener = await side.tokens.add({ name: "agent", kind: "client", microphone: true });
		assert.deepEqual(await toolsOf(await connect(t, side, listener)), ["listen", "ask"]);
		await side.tokens.remove("agent");
		const plain = await side.tokens.add({ name: "agent", kind: "client" });
		assert.deepEqual(await toolsOf(await connect(t, side, plain)), []);
	});

	itStarted("is in the log and in the audit log: who, when, and which device", async ({ side, device }, t) => {
		const token = await side.tokens.add({ name: "agent", kind: "client", microphone: true, operator: true });
		device.packets = await encode(speech(1));
		await listen(await connect(t, side, token), { seconds: 30 });
		assert.match(side.log(), /"device":"aa:bb:cc:00:00:03","principal":"agent".*"msg":"listening"/);
		const response = await fetch(`${side.base}/audit`, { headers: { authorization: `Bearer ${token}` } });
		const { entries } = (await response.json()) as { entries: Record<string, unknown>[] };
		const [{ principal, client, device: id, alias, tool, args, outcome } = {}] = entries;
		assert.deepEqual(
			{ principal, client, id, alias, tool, args, outcome },
			{
				principal: "agent",
				client: "test-client",
				id: "aa:bb:cc:00:00:03",
				alias: NAME,
				tool: "listen",
				args: '{"seconds":30}',
				outcome: "ok",
			},
		);
	});
});

describe("a recognizer", { skip: skipIf(await whyNoOpus()) }, () => {
	const said = async (t: TestContext, settings: Parameters<typeof startProgram>[1]): Promise<Result> => {
		const { device, client } = await start(t, { transcriptionCommand: undefined, ...settings });
		device.packets = await encode(speech(1));
		return await listen(client, { seconds: 30 });
	};

	it("may be a program that reads a file, and gets the language", async (t) => {
		const transcriptionCommand = `${PROGRAM} {file} {language}`;
		const { text } = await said(t, { transcriptionCommand, transcriptionLanguage: "ja" });
		assert.match(text, /^16000 Hz, \d\.\d s, by the file speech\.wav, in ja$/);
	});

	it("may be a service, which gets the sound, the model and the language", async (t) => {
		const forms: FormData[] = [];
		const headers: unknown[] = [];
		const service = await openRecognizer(t, async (request, response) => {
			headers.push([request.method, request.url, request.headers.authorization]);
			forms.push(await readForm(request));
			response.end('{"text":" Good\\nmorning. "}');
		});
		const { text } = await said(t, { ...service, transcriptionKey: "a-key", transcriptionLanguage: "en" });
		assert.equal(text, "Good morning.");
		assert.deepEqual(headers, [["POST", "/v1/audio/transcriptions", "Bearer a-key"]]);
		const form = forms[0] as FormData;
		assert.deepEqual([form.get("model"), form.get("language"), form.get("response_format")], ["whisper", "en", "json"]);
		assert.equal(readWav(await fileIn(form)).sampleRate, 16_000);
	});

	for (const [title, answer, problem] of [
		["an error", (_, response) => response.writeHead(401).end("a-key is wrong"), /not recognized: HTTP status 401$/],
		["a page", (_, response) => response.end("<html>"), /not recognized: the answer is not JSON$/],
		["no text", (_, response) => response.end("{}"), /not recognized: the answer has no text$/],
		[
			"a huge answer",
			(_, response) => response.end(`{"text":"${"a".repeat(100_000)}"}`),
			/the answer is too long \(limit 65536 bytes\)$/,
		],
		["nothing", (_, response) => response.destroy(), /not recognized: /],
	] satisfies [string, Parameters<typeof openRecognizer>[1], RegExp][]) {
		it(`that is a service is reported if it answers with ${title}, without the key`, async (t) => {
			const { text } = await said(t, { ...(await openRecognizer(t, answer)), transcriptionKey: "a-key" });
			assert.match(text, problem);
			assert.doesNotMatch(text, /a-key/);
		});
	}

	it("that is slow can be cancelled", async (t) => {
		let asked = false;
		const service = await openRecognizer(t, () => {
			asked = true;
		});
		const { device, client } = await start(t, { transcriptionCommand: undefined, ...service });
		device.packets = await encode(speech(1));
		const cancel = new AbortController();
		const listening = listen(client, { seconds: 30 }, cancel.signal);
		await until(() => asked, "the service is asked");
		assert.equal(device.isListening, false);
		cancel.abort();
		await assert.rejects(listening);
	});

	it("that is not configured is named in the error; the sound is available without it", async (t) => {
		const { device, client } = await start(t, { transcriptionCommand: undefined });
		assert.match(
			(await listen(client)).text,
			/cannot turn speech into text: its operator sets transcriptionCommand or transcriptionUrl$/,
		);
		assert.deepEqual(device.heard, []);
		device.packets = await encode(speech(1));
		const { content, structured } = await listen(client, { seconds: 30, audio: true });
		assert.deepEqual([content.length, structured.text], [2, ""]);
	});

	it("whose settings are not complete is rejected at the start", async (t) => {
		const url = "http://127.0.0.1:1/v1";
		await assert.rejects(
			startProgram(t, { transcriptionUrl: url }),
			/--transcription-url: requires transcriptionModel/,
		);
		const both = { transcriptionUrl: url, transcriptionModel: "whisper", transcriptionCommand: "whisper-cli" };
		await assert.rejects(startProgram(t, both), /transcriptionCommand, transcriptionUrl: only one of them can be set/);
	});
});
