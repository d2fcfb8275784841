import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, it, type TestContext } from "node:test";
import { connectClient } from "xs-mcp-gateway/testing/gateway";
import { openRecognizer } from "xs-mcp-gateway/testing/listening-device";
import { startProgram } from "xs-mcp-gateway/testing/program";
import { VOICE } from "xs-mcp-gateway/testing/voice";
import type { Server } from "xs-mcp-manager/core";
import type { BoardProfile } from "xs-mcp-virtual-device";
import { correlation } from "../host-test/support/correlation.js";
import { whyMissing, whyNoOpus } from "../host-test/support/optional-program.js";
import { cases } from "../host-test/support/scope.js";
import { samplesOf, speak } from "../host-test/support/speak.js";
import { fileIn, PATIENT, readForm, skipIf, until } from "../host-test/support/testing.js";
import { ENGINES, type Engine, startDevice } from "./fixtures.js";

const BOARD: BoardProfile = {
	name: "virtual",
	parts: ["codec"],
	screen: { width: 320, height: 240 },
	buttons: ["boot"],
	lights: ["led"],
	sensors: [],
};

const SENTENCE = "Yes, please water the plant.";

/** The sample rate in hertz, and the longest delay of a sound in samples: one second. */
const RATE = 16_000;

async function start(t: TestContext, engine: Engine, transport: "websocket" | "mqtt" = "websocket") {
	const heard: Buffer[] = [];
	const service = await openRecognizer(t, async (request, response) => {
		heard.push(await fileIn(await readForm(request)));
		response.end(JSON.stringify({ text: SENTENCE }));
	});
	const side = await startProgram(t, { [transport]: true, microphones: true, speechCommand: VOICE, ...service });
	const online = once(side.gateway.servers, "online") as Promise<[Server]>;
	const config = { backend: side.gateway.urls[transport] };
	const { device } = await startDevice(t, engine, { config, board: BOARD });
	const [{ connection }] = await online;
	await until(() => connection?.audio?.isOpen === true, "its audio is open");
	const client = await connectClient(t, new URL(`${side.base}/mcp`), "2026-07-28");
	const call = async (name: string, args: object) => {
		const params = { name, arguments: { device: device.macAddress, ...args } };
		const { content, structuredContent } = await client.callTool(params, PATIENT);
		const { ended, by, answer } = (structuredContent ?? {}) as Readonly<Record<string, unknown>>;
		return { text: (content as { text: string }[])[0]?.text ?? "", ended, by, answer };
	};
	return { device, heard, call };
}

const SKIP = skipIf(await whyNoOpus()) || skipIf(whyMissing("espeak-ng", "espeak-ng"));

for (const engine of cases(ENGINES)) {
	describe(`listening, firmware on ${engine.kind}`, { skip: SKIP }, () => {
		for (const transport of ["websocket", "mqtt"] as const) {
			it(`receives a whole sentence, and shows while it listens: over ${transport}`, async (t) => {
				const { device, heard, call } = await start(t, engine, transport);
				const lights: string[] = [];
				device.on("light", (name, { on, color }) => lights.push(`${name} ${on ? color.toString(16) : "off"}`));
				const states: unknown[] = [];
				device.on("screen", ({ state, message }) => states.push(`${state} ${message}`));
				device.hear(speak(SENTENCE));
				const result = await call("listen", { seconds: 30 });
				assert.deepEqual([result.text, result.ended], [SENTENCE, "silence"]);
				const likeness = correlation(samplesOf(speak(SENTENCE), RATE), samplesOf(heard[0] as Buffer, RATE), RATE);
				// On a busy machine packets are recorded late, several at once, and some of them are dropped.
				assert.ok(likeness >= 0.6, `correlation ${likeness}`);
				await until(() => lights.at(-1) === "led off", "its light is off");
				assert.ok(lights.includes("led ff0000"), lights.join());
				await until(() => states.at(-1) === `idle ${SENTENCE}`, "the screen shows what was heard");
				assert.ok(states.some((each) => String(each).startsWith("listening")));
			});
		}

		it("does not listen while its microphone is muted, and says so", async (t) => {
			const { device, call } = await start(t, engine);
			device.isMuted = true;
			const { text } = await call("listen", { seconds: 1 });
			assert.match(text, /its microphone is muted$/);
			device.restart();
			await once(device, "restarted");
			await until(async () => /muted$/.test((await call("listen", { seconds: 1 })).text), "it stays muted");
		});

		it("a question is answered by a button", async (t) => {
			const { device, call } = await start(t, engine);
			const screens: string[] = [];
			device.on("screen", ({ message }) => screens.push(message));
			const asking = call("ask", { question: "tone 1", answers: ["Yes", "No"], seconds: 30 });
			await until(() => screens.some((each) => each.includes("tone 1\n> 1/2 Yes")), "the question is on the screen");
			void device.press();
			await until(() => screens.some((each) => each.includes("> 2/2 No")), "the other answer is marked");
			void device.press(2_500);
			const { text, by } = await asking;
			assert.deepEqual([text, by], ["No (by button)", "button"]);
		});
	});
}
