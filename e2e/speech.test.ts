import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { describe, it } from "node:test";
import { sharePackets } from "xs-mcp-gateway/speech";
import { encodeOgg } from "xs-mcp-gateway/spoken-stream";
import { connectClient } from "xs-mcp-gateway/testing/gateway";
import { startProgram } from "xs-mcp-gateway/testing/program";
import { VOICE } from "xs-mcp-gateway/testing/voice";
import { readWav } from "xs-mcp-gateway/wav";
import type { Server } from "xs-mcp-manager/core";
import { type BoardProfile, profileOf } from "xs-mcp-virtual-device";
import { correlation, correlationWithGaps } from "../host-test/support/correlation.js";
import { whyMissing, whyNoOpus } from "../host-test/support/optional-program.js";
import { cases } from "../host-test/support/scope.js";
import { decode, follow } from "../host-test/support/sounds.js";
import { samplesOf, speak } from "../host-test/support/speak.js";
import { listen, skipIf, until } from "../host-test/support/testing.js";
import { ENGINES, startDevice } from "./fixtures.js";
import { openBackend, openUdpBackend } from "./speech-backend.js";

/** A board that has no player: what is said comes as packets. */
const BOARD: BoardProfile = {
	name: "virtual",
	parts: ["codec"],
	isFullDuplex: true,
	buttons: ["boot"],
	lights: [],
	sensors: [],
};

const SENTENCE = "The soil is dry. Please water the plant.";

/** Samples that the way may delay a sound: a second. */
const MAX_DELAY = 24_000;

const SKIP = skipIf(await whyNoOpus()) || skipIf(whyMissing("espeak-ng", "espeak-ng"));

for (const engine of cases(ENGINES)) {
	describe(`speech, firmware on ${engine.kind}`, { skip: SKIP }, () => {
		for (const transport of ["websocket", "mqtt"] as const) {
			it(`a sentence of the gateway is heard, and its end is confirmed: over ${transport}`, async (t) => {
				const flags = { [transport]: true, speechCommand: "espeak-ng --stdout -v {voice}" };
				const side = await startProgram(t, flags);
				const online = once(side.gateway.servers, "online") as Promise<[Server]>;
				const backend = side.gateway.urls[transport];
				const { device } = await startDevice(t, engine, { config: { backend }, board: BOARD });
				const heard = follow(device);
				const [{ connection }] = await online;
				await until(() => connection?.audio?.isOpen === true, "its audio is open");
				const client = await connectClient(t, new URL(`${side.base}/mcp`), "2026-07-28");
				const args = { text: SENTENCE, devices: ["all"] };
				const { structuredContent } = await client.callTool({ name: "say", arguments: args });
				const [{ outcome }] = (structuredContent as { results: [{ outcome: string }] }).results;
				assert.equal(outcome, "played");
				const likeness = correlationWithGaps(samplesOf(speak(SENTENCE), heard.rate), heard.samples(), MAX_DELAY);
				// On a busy machine packets come late: the decoder conceals them, and is less exact for a while.
				assert.ok(likeness >= 0.8, `correlation ${likeness}`);
			});
		}

		it("a cancelled sentence ends: most of its twenty seconds are not played", async (t) => {
			const side = await startProgram(t, { speechCommand: VOICE });
			const online = once(side.gateway.servers, "online");
			const { device } = await startDevice(t, engine, { config: { backend: side.deviceUrl }, board: BOARD });
			const heard = follow(device);
			await online;
			const client = await connectClient(t, new URL(`${side.base}/mcp`), "2025-11-25");
			const cancel = new AbortController();
			const args = { text: "tone 20", devices: ["all"] };
			const saying = client.callTool({ name: "say", arguments: args }, { signal: cancel.signal });
			await until(() => heard.samples().length > 24_000, "a second is heard");
			const silence = once(device, "silence");
			cancel.abort();
			await assert.rejects(saying);
			await silence;
			const played = heard.samples().length / heard.rate;
			assert.ok(played < 10, `${played} s`);
		});

		it("goes both ways over UDP behind MQTT, with a tenth of the packets lost", async (t) => {
			const backend = await openUdpBackend(t);
			const { device } = await startDevice(t, engine, { config: backend.config, board: BOARD });
			const heard = follow(device);
			const sentence = speak("Please water the plant.");
			device.hear(sentence);
			await until(() => backend.messages.includes("hello"), "it says hello");
			void device.press();
			await until(() => backend.packets.length > 20, "it is heard");
			backend.say({ type: "tts", state: "start", session_id: "s" });
			await until(() => backend.messages.includes("mcp speaking"), "it says that it speaks");
			let count = 0;
			for await (const packet of await sharePackets(readWav(sentence))) {
				backend.send(packet, 0, count % 10 === 3);
				count += 1;
			}
			await until(() => heard.samples().length > 0, "it is heard");
			backend.say({ type: "tts", state: "stop", session_id: "s" });
			await until(() => backend.messages.filter((each) => each === "listen start").length === 2, "it has spoken");
			const likeness = correlationWithGaps(samplesOf(sentence, 24_000), heard.samples(), MAX_DELAY);
			assert.ok(likeness >= 0.8, `correlation ${likeness}`);
		});

		it("refuses realtime on a board whose microphone has no I2S port of its own", async (t) => {
			const config = { backend: "ws://127.0.0.1:9", listenMode: "realtime" };
			const { log } = await startDevice(t, engine, { config, board: profileOf("esp32/esp32_s3_box_3") });
			const error = "fatal error: listenMode: realtime: this board cannot record while it plays, use auto or manual";
			await until(() => log.includes(error), log.join("\n"));
		});

		it("plays no other sound while a board whose microphone has no I2S port of its own listens", async (t) => {
			const backend = await openBackend(t, 1);
			const board = profileOf("esp32/esp32_s3_box_3");
			const { device } = await startDevice(t, engine, { config: { backend: backend.url }, board });
			await backend.greeted;
			void device.press();
			await until(() => backend.messages.includes("listen start"), "it listens");
			const params = { name: "self.audio_speaker.chime", arguments: {} };
			backend.say({ type: "mcp", payload: { jsonrpc: "2.0", id: 1, method: "tools/call", params } });
			const answer = () => backend.answers.find(({ id }) => id === 1);
			await until(() => answer() !== undefined, "it answers");
			assert.match(JSON.stringify(answer()), /the microphone is in use/);
		});

		it("in realtime, the microphone is heard while the backend speaks", async (t) => {
			const backend = await openBackend(t, 1);
			const config = { backend: backend.url, listenMode: "realtime" };
			const { device } = await startDevice(t, engine, { config, board: BOARD });
			const heard = follow(device);
			device.hear(speak(SENTENCE));
			await backend.greeted;
			void device.press();
			await until(() => backend.packets.length > 0, "it listens");
			backend.say({ type: "tts", state: "start" });
			for await (const packet of await sharePackets(readWav(speak("Which plant?")))) {
				backend.send(packet);
			}
			await until(() => heard.samples().length > 0, "the backend is heard");
			const before = backend.packets.length;
			await until(() => backend.packets.length > before + 10, "the person is heard meanwhile");
			const spoken = once(device, "silence");
			backend.say({ type: "tts", state: "stop" });
			await spoken;
			const after = backend.packets.length;
			await until(() => backend.packets.length > after + 10, "it still listens");
			assert.deepEqual(backend.messages, ["hello", "listen start"]);
		});

		it("plays the file of Ogg Opus of a notice", async (t) => {
			const sentence = speak(SENTENCE);
			const packets: Uint8Array[] = [];
			for await (const packet of await sharePackets(readWav(sentence))) {
				packets.push(packet);
			}
			const server = createServer((_request, response) => response.end(encodeOgg(packets, 24_000, 60)));
			const port = await listen(t, server);
			const backend = await openBackend(t, 1);
			const { device } = await startDevice(t, engine, { config: { backend: backend.url }, board: BOARD });
			const heard = follow(device);
			const silence = once(device, "silence");
			await backend.greeted;
			const subtitles = [{ start_ms: 0, text: "The soil is dry." }];
			backend.say({ type: "notify", audio_url: `http://127.0.0.1:${port}/notice.ogg`, subtitles });
			await silence;
			const likeness = correlationWithGaps(samplesOf(sentence, heard.rate), heard.samples(), MAX_DELAY);
			assert.ok(likeness >= 0.8, `correlation ${likeness}`);
		});

		for (const transport of ["websocket", "mqtt"] as const) {
			it(`in realtime, a backend finds its own sound by the timestamps: over ${transport}`, async (t) => {
				const over = transport === "mqtt" ? await openUdpBackend(t) : await openBackend(t, 2);
				const backend = "config" in over ? over.config : { backend: over.url, protocolVersion: 2 };
				const { device } = await startDevice(t, engine, {
					config: { ...backend, listenMode: "realtime" },
					board: BOARD,
				});
				device.hear(speak(SENTENCE));
				await until(() => over.messages.includes("hello"), "it says hello");
				assert.deepEqual(over.hello.features, { mcp: true, aec: true, audio: true });
				void device.press();
				await until(() => over.packets.length > 3, "it listens");
				const silent = over.timestamps.length;
				over.say({ type: "tts", state: "start", session_id: "s" });
				const sent: number[] = [];
				for await (const packet of await sharePackets(readWav(speak("Which plant?")))) {
					sent.push(70_000 + 60 * sent.length);
					over.send(packet, sent.at(-1));
				}
				const echoed = (): number[] => over.timestamps.slice(silent).filter((each) => each >= 70_000);
				await until(() => echoed().length > 3, "it echoes");
				assert.deepEqual([...new Set(echoed())].sort(), echoed());
				assert.deepEqual(
					echoed().filter((each) => !sent.includes(each)),
					[],
				);
				assert.ok(over.timestamps.slice(0, silent).every((each) => each < 100));
			});
		}

		for (const protocolVersion of [1, 2, 3] as const) {
			it(`what the microphone hears reaches a backend, in framing ${protocolVersion}`, async (t) => {
				const backend = await openBackend(t, protocolVersion);
				const sentence = speak("Hello, how are you?");
				const config = { backend: backend.url, protocolVersion };
				const { device } = await startDevice(t, engine, { config, board: BOARD });
				device.hear(sentence);
				await backend.greeted;
				void device.press();
				const source = samplesOf(sentence, 16_000);
				await until(() => backend.packets.length * 960 > source.length + 1_600, "all of it has come");
				assert.deepEqual(backend.messages.slice(0, 2), ["hello", "listen start"]);
				const heard = await decode(backend.packets, 16_000);
				const likeness = correlation(source, heard, 4_000);
				assert.ok(likeness >= 0.9, `correlation ${likeness}`);
			});
		}
	});
}
