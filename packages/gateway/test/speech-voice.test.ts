import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type RequestListener, type ServerResponse } from "node:http";
import { text as readText } from "node:stream/consumers";
import { describe, it, type TestContext } from "node:test";
import { listen } from "../../../host-test/support/testing.js";
import { makeSpeech } from "../src/speech/speech.js";
import { connect, type StartedProgram, startProgram } from "../testing/program.js";
import { Speaker, say, startSpeaking } from "../testing/speaker.js";

describe("a program that speaks", () => {
	const CASES = [
		["no voice", /cannot speak: .* ended with status 3: unknown voice en/],
		["endless", /cannot speak: the sound is too long \(limit 16777216 bytes\)/],
	] as const;
	for (const [text, problem] of CASES) {
		it(`is reported if its output is wrong: ${text}`, async (t) => {
			const side = await startSpeaking(t);
			await Speaker.connect(t, side);
			assert.match((await say(await connect(t, side), { text })).text, problem);
		});
	}

	it("that does not exist is reported at the start", async (t) => {
		for (const [speechCommand, problem] of [
			["no-such-program -v", "speechCommand: no program no-such-program in a folder of PATH"],
			["/no/such/program", "speechCommand: no program /no/such/program"],
		] as const) {
			await assert.rejects(startSpeaking(t, { speechCommand }), { name: "ConfigurationError", message: problem });
		}
	});
});

/** A sound of one sample, the letter A. */
const WAV = Buffer.from("UklGRiYAAABXQVZFZm10IBAAAAABAAEAgD4AAAB9AAACABAAZGF0YQIAAABBAA==", "base64");

/** Sends the head of a WAV file that names 1 GB, and then samples until the connection is closed. */
function sendEndless(response: ServerResponse): void {
	const head = Buffer.from(WAV);
	head.writeUInt32LE(2 ** 30, head.length - 6);
	response.write(head);
	const piece = Buffer.alloc(2 ** 20);
	const more = (): void => {
		while (!response.destroyed && response.write(piece)) {}
	};
	response.on("drain", more);
	more();
}

describe("a service that speaks", () => {
	const serve = async (t: TestContext, answer: RequestListener): Promise<StartedProgram> => {
		const server = createServer(answer);
		const speechUrl = `http://127.0.0.1:${await listen(t, server)}/v1`;
		const speechVoices = { ja: "hana", "*": "amy" };
		const settings = { speechUrl, speechModel: "tts", speechKey: "a-key", speechVoices };
		return await startProgram(t, settings);
	};

	it("gets the text as it is, the model, and a voice for the language or any other; a text is spoken once", async (t) => {
		const requests: unknown[] = [];
		const side = await serve(t, async (request, response) => {
			const body = await readText(request);
			requests.push([request.url, request.headers.authorization, JSON.parse(body)]);
			response.end(WAV);
		});
		const speaker = await Speaker.connect(t, side);
		const client = await connect(t, side);
		const markup = '<speak>"$(reboot)" &amp; {voice}</speak>';
		for (const text of ["hello", "おはよう", "hello", markup, "안녕하세요"]) {
			assert.equal((await say(client, { text })).text, "lamp_000001: played");
		}
		const expected = (input: string, voice: string) => [
			"/v1/audio/speech",
			"Bearer a-key",
			{ model: "tts", input, voice, response_format: "wav" },
		];
		assert.deepEqual(requests, [
			expected("hello", "amy"),
			expected("おはよう", "hana"),
			expected(markup, "amy"),
			expected("안녕하세요", "amy"),
		]);
		assert.equal(speaker.heard.join(""), "AAAAA");
	});

	for (const [title, answer, problem] of [
		["a page", (response) => response.end("<!doctype html><title>Sign in</title>"), "not a WAV file"],
		["a WAV file of 1 GB", sendEndless, "the sound is too long (limit 16777216 bytes)"],
	] as const satisfies [string, (response: ServerResponse) => void, string][]) {
		it(`is reported if it answers with ${title}, and its connection ends`, async (t) => {
			const closed: Promise<unknown>[] = [];
			const side = await serve(t, (_request, response) => {
				closed.push(once(response, "close"));
				answer(response);
			});
			await Speaker.connect(t, side);
			const { text } = await say(await connect(t, side), { text: "hello" });
			assert.equal(text, `lamp_000001: failed (cannot speak: ${problem})`);
			await Promise.all(closed);
		});
	}

	it("that is slow is given up after 30 s", async (t) => {
		const ended = new AbortController();
		const limits: number[] = [];
		t.mock.method(AbortSignal, "timeout", (limit: number) => {
			limits.push(limit);
			return ended.signal;
		});
		const speech = makeSpeech(async (_text, signal) => {
			ended.abort();
			throw signal.reason;
		});
		const path = speech.text("hello", { principal: "local", signal: new AbortController().signal }).path();
		await assert.rejects(path, { message: "cannot speak: no sound within 30 s" });
		assert.deepEqual(limits, [30_000]);
	});

	it("that is slow for one client speaks for others, and an urgent text waits for none", async () => {
		const started: string[] = [];
		const speech = makeSpeech(async (text, signal) => {
			signal.throwIfAborted();
			started.push(text);
			return await new Promise<Buffer>((resolve, reject) => {
				text.startsWith("slow") ? signal.addEventListener("abort", () => reject(signal.reason)) : resolve(WAV);
			});
		});
		const end = new AbortController();
		const path = (text: string, principal: string, isUrgent = false) =>
			speech.text(text, { principal, signal: end.signal }, isUrgent).path();
		const slow = Array.from({ length: 8 }, (_, index) => path(`slow ${index}`, "one"));
		await path("hello", "another");
		await path("fire", "one", true);
		assert.deepEqual(started, ["slow 0", "slow 1", "hello", "fire"]);
		end.abort();
		await Promise.allSettled(slow);
	});

	it("is reported by its status, without the key", async (t) => {
		const side = await serve(t, (_request, response) => response.writeHead(401).end("a-key is wrong"));
		await Speaker.connect(t, side);
		const { text } = await say(await connect(t, side), { text: "hello" });
		assert.equal(text, "lamp_000001: failed (cannot speak: HTTP status 401)");
	});
});

it("settings that are not complete are rejected at the start", async (t) => {
	await assert.rejects(startProgram(t, { speechUrl: "http://127.0.0.1:1/v1" }), /--speech-url: requires speechModel/);
	const both = { speechUrl: "http://127.0.0.1:1/v1", speechModel: "tts", speechCommand: "espeak-ng" };
	await assert.rejects(startProgram(t, both), /speechCommand, speechUrl: only one of them can be set/);
	await assert.rejects(startProgram(t, { quietHours: "10pm" }), /two times of day like 22:00-07:00/);
});
