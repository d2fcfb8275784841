import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, it } from "node:test";
import { sharePackets } from "xs-mcp-gateway/speech";
import { readWav } from "xs-mcp-gateway/wav";
import { profileOf } from "xs-mcp-virtual-device";
import { correlationWithGaps } from "../host-test/support/correlation.js";
import { whyMissing, whyNoOpus } from "../host-test/support/optional-program.js";
import { cases } from "../host-test/support/scope.js";
import { follow } from "../host-test/support/sounds.js";
import { samplesOf, speak } from "../host-test/support/speak.js";
import { skipIf, until } from "../host-test/support/testing.js";
import { ENGINES, startDevice } from "./fixtures.js";
import { openBackend } from "./speech-backend.js";

const SKIP = skipIf(await whyNoOpus()) || skipIf(whyMissing("espeak-ng", "espeak-ng"));

const ANSWER = "Yes, I can see you on my left.";

for (const engine of cases(ENGINES)) {
	describe(`M5Stack's StackChan, firmware on ${engine.kind}`, { skip: SKIP }, () => {
		it("turns to whom it hears, nods, lights up and answers by voice, as an agent tells it", async (t) => {
			const backend = await openBackend(t, 1);
			const board = profileOf("esp32/m5stack_stackchan");
			const { device } = await startDevice(t, engine, { config: { backend: backend.url }, board });
			const heard = follow(device);
			const pitches: number[] = [];
			device.on("servo", (name, angle) => void (name === "pitch" && pitches.push(angle)));
			let id = 0;
			const call = async (name: string, args: object): Promise<unknown> => {
				id += 1;
				const request = { jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args } };
				backend.say({ type: "mcp", payload: request });
				const answer = () => backend.answers.find((each) => each.id === id)?.result;
				await until(() => answer() !== undefined, `${name} answers`);
				assert.notEqual(answer()?.isError, true, answer()?.content[0]?.text);
				return JSON.parse(answer()?.content[0]?.text ?? "");
			};
			device.hear(speak("I am on your left. Can you see me?"));
			await backend.greeted;
			void device.press();
			await until(() => backend.packets.length > 20, "it is heard");
			backend.say({ type: "stt", text: "I am on your left. Can you see me?" });
			assert.equal(await call("self.head.look_at", { ahead: 100, right: -60, up: 20 }), true);
			assert.equal(await call("self.head.gesture", { gesture: "nod" }), true);
			await call("self.light.set", { light: "body", color: "#00ff00" });
			backend.say({ type: "tts", state: "start" });
			backend.say({ type: "tts", state: "sentence_start", text: ANSWER });
			for await (const packet of await sharePackets(readWav(speak(ANSWER)))) {
				backend.send(packet);
			}
			await until(() => device.screen?.state === "speaking", "the face speaks");
			// It is red again while the device listens.
			assert.deepEqual(device.lights.get("body"), { on: true, brightness: 50, color: 0x00ff00 });
			const spoken = once(device, "silence");
			backend.say({ type: "tts", state: "stop" });
			await spoken;
			assert.deepEqual(Object.fromEntries(device.servos), { yaw: -31, pitch: 10 });
			assert.deepEqual(pitches, [10, 25, 10, 25, 10]);
			const { servos } = (await call("self.get_device_status", {})) as { servos: Record<string, object> };
			assert.deepEqual(servos, {
				yaw: { angle: -31, min: -128, max: 128 },
				pitch: { angle: 10, min: 5, max: 85 },
			});
			const likeness = correlationWithGaps(samplesOf(speak(ANSWER), heard.rate), heard.samples(), 24_000);
			assert.ok(likeness >= 0.8, `correlation ${likeness}`);
		});
	});
}
