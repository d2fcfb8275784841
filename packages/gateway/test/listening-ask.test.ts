import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import type { Client } from "@modelcontextprotocol/client";
import { whyNoOpus } from "../../../host-test/support/optional-program.js";
import { PATIENT, skipIf, until } from "../../../host-test/support/testing.js";
import { matchAnswer } from "../src/listening/ask.js";
import {
	encode,
	ListeningDevice,
	type ListeningDeviceOptions,
	openRecognizer,
	speech,
} from "../testing/listening-device.js";
import { connect, startProgram } from "../testing/program.js";
import { VOICE } from "../testing/voice.js";

const NAME = "radio_000003";

const ASK_USER = {
	name: "self.assistant.ask_user",
	inputSchema: {
		type: "object",
		properties: {
			question: { type: "string", maxLength: 20 },
			choices: { type: "array", items: { type: "string" } },
			seconds: { type: "integer" },
		},
		required: ["question", "choices"],
	},
};

/** A gateway with a voice, whose recognizer understands these texts, one after the other. */
async function start(t: TestContext, texts: string[], own: ListeningDeviceOptions = {}, settings: object = {}) {
	const service = await openRecognizer(t, (_, response) => response.end(JSON.stringify({ text: texts.shift() ?? "" })));
	const side = await startProgram(t, { microphones: true, speechCommand: VOICE, ...service, ...settings });
	const device = await ListeningDevice.connect(t, side, own);
	return { side, device, client: await connect(t, side) };
}

async function ask(client: Client, args: object = {}) {
	const question = { device: NAME, question: "tone 1", answers: ["Yes", "No"], ...args };
	const { content, structuredContent, isError } = await client.callTool({ name: "ask", arguments: question }, PATIENT);
	return {
		text: (content as { text: string }[])[0]?.text ?? "",
		structured: structuredContent,
		isError: isError === true,
	};
}

const chosen = (choice?: string) => ({
	content: [{ type: "text", text: "{}" }],
	structuredContent: choice === undefined ? { answered: false } : { answered: true, choice },
	isError: false,
});

/** A device with a screen and buttons, whose question is on the screen until a test answers it. */
function withButtons(): ListeningDeviceOptions & { asked: number } {
	const own = {
		asked: 0,
		tools: [ASK_USER],
		onCall(id: number) {
			own.asked = id;
			return undefined;
		},
	};
	return own;
}

describe("ask", { skip: skipIf(await whyNoOpus()) }, () => {
	it("is answered by voice, and says which of the answers it is", async (t) => {
		const { device, client } = await start(t, ["Well, yes please!"]);
		device.packets = await encode(speech(1));
		const { text, structured } = await ask(client);
		assert.equal(text, "Yes (by voice: Well, yes please!)");
		assert.deepEqual(structured, {
			device: NAME,
			answered: true,
			by: "voice",
			text: "Well, yes please!",
			answer: "Yes",
		});
		assert.deepEqual(device.heard, [
			"tts start",
			"tts sentence_start tone 1",
			"tts stop",
			"listen start",
			"listen stop",
			"stt Well, yes please!",
		]);
	});

	it("is answered by a button first: the device stops listening, and the question stays on the screen while it is said", async (t) => {
		const own = withButtons();
		const { device, client } = await start(t, [], own);
		const asking = ask(client);
		await until(() => device.isListening, "it listens");
		assert.ok(!device.heard.some((each) => each.includes("sentence_start")));
		device.answer(own.asked, chosen("No"));
		const { text, structured } = await asking;
		assert.equal(text, "No (by button)");
		assert.deepEqual(structured, { device: NAME, answered: true, by: "button", answer: "No" });
		await until(() => !device.isListening, "it listens no more");
	});

	it("is answered by a button while it is still said", async (t) => {
		const own = withButtons();
		const { device, client } = await start(t, [], own);
		const asking = ask(client, { question: "tone 20" });
		await until(() => device.heard.includes("tts start"), "it speaks");
		device.answer(own.asked, chosen("Yes"));
		assert.equal((await asking).text, "Yes (by button)");
		assert.ok(!device.heard.includes("listen start"));
	});

	it("is answered by voice first: the question leaves the screen", async (t) => {
		const { device, client } = await start(t, ["no"], withButtons());
		device.packets = await encode(speech(1));
		assert.equal((await ask(client)).text, "No (by voice: no)");
		await until(() => device.cancelled === 1, "the question is cancelled");
		assert.deepEqual(device.calls, [ASK_USER.name]);
	});

	it("is not answered if the time runs out", async (t) => {
		const { client, device } = await start(t, [], withButtons());
		const listening = await encode(new Int16Array(4 * 16_000).map((_, at) => 20 * Math.sin(at * at)));
		device.packets = listening;
		const { text, structured } = await ask(client, { seconds: 3 });
		assert.deepEqual([text, structured], ["Nobody answered.", { device: NAME, answered: false }]);
		await until(() => device.cancelled === 1, "the question is cancelled");
	});

	it("keeps listening after a noise without words", async (t) => {
		const { client, device } = await start(t, ["", "maybe"]);
		device.packets = await encode(speech(1));
		device.later.push(device.packets);
		assert.equal((await ask(client, { seconds: 30 })).text, "another answer (by voice: maybe)");
	});

	it("can be answered by button if the microphone is muted", async (t) => {
		const own = Object.assign(withButtons(), { refuses: "muted" });
		const { client, device } = await start(t, [], own);
		const asking = ask(client);
		await until(() => device.heard.includes("listen start"), "it is asked to listen");
		device.answer(own.asked, chosen("Yes"));
		assert.equal((await asking).text, "Yes (by button)");
	});

	it("fails if it can be answered in no way", async (t) => {
		const { client } = await start(t, [], { refuses: "muted" });
		assert.equal((await ask(client)).text, `ask: ${NAME}: its microphone is muted`);
	});

	it("fails if it can neither be said nor shown", async (t) => {
		const { client } = await start(t, [], {}, { speechCommand: "false" });
		assert.match(
			(await ask(client)).text,
			/^ask: radio_000003: cannot speak: false ended with status 1: no error output$/,
		);
	});

	it("is shown if the gateway has no voice", async (t) => {
		const tools = [
			{
				name: "self.screen.show_text",
				inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
			},
		];
		const { device, client } = await start(t, ["blue"], { tools }, { speechCommand: undefined });
		device.packets = await encode(speech(1));
		assert.equal((await ask(client, { answers: [] })).text, "another answer (by voice: blue)");
		assert.deepEqual(device.calls, ["self.screen.show_text"]);
	});
});

it("finds an answer in the recognized text", () => {
	const cases: [said: string, answers: string[], expected: string | undefined][] = [
		["Yes.", ["yes", "no"], "yes"],
		["I do not know", ["yes", "no"], undefined],
		["yes and no", ["yes", "no"], undefined],
		["Not now, thanks", ["now", "not now"], "not now"],
		["はい、お願いします。", ["はい", "いいえ"], "はい"],
		["不要", ["要", "不要"], "不要"],
		["１０時に", ["10時", "11時"], "10時"],
		["", ["yes"], undefined],
	];
	for (const [said, answers, expected] of cases) {
		assert.equal(matchAnswer(said, answers), expected, said);
	}
});
