import assert from "node:assert/strict";
import { it } from "node:test";
import { sharePackets } from "xs-mcp-gateway/speech";
import { readWav } from "xs-mcp-gateway/wav";
import { whyNoChromium } from "../host-test/support/chromium.js";
import { whyMissing, whyNoOpus } from "../host-test/support/optional-program.js";
import { decode } from "../host-test/support/sounds.js";
import { speak } from "../host-test/support/speak.js";
import { likenessOfPieces, talkAtPage } from "../host-test/support/talking-page.js";
import { skipIf, until } from "../host-test/support/testing.js";
import { ENGINE, startDevice } from "./fixtures.js";
import { openBackend } from "./speech-backend.js";

const SKIP = whyNoChromium || skipIf(await whyNoOpus()) || skipIf(whyMissing("espeak-ng", "espeak-ng"));

it("a virtual device's page takes what a person says to the backend, and plays its answer, one piece after the other", {
	skip: SKIP,
}, async (t) => {
	const backend = await openBackend(t, 1);
	const { device } = await startDevice(t, ENGINE, { config: { backend: backend.url } });
	await backend.greeted;
	const person = await talkAtPage(t, device, "Hello, how are you?", 0.5);
	await person.toggleMicrophone("off");
	await person.page.getByRole("button", { name: "boot" }).click();
	let used = 0;
	const isHeard = async () => {
		const packets = backend.packets.slice(used);
		// The sentence comes again and again: this has it once from its beginning to its end.
		if (packets.length * 960 <= 2 * person.said.length + 16_000) {
			return false;
		}
		used += packets.length;
		// On a busy computer, Chromium records the sentence with gaps.
		return likenessOfPieces(person.said, await decode(packets, 16_000)) >= 0.8;
	};
	await until(isHeard, "the sentence is heard as it was said");
	await person.toggleMicrophone("on");

	backend.say({ type: "tts", state: "start" });
	for await (const packet of await sharePackets(readWav(speak("I am fine.")))) {
		backend.send(packet);
	}
	backend.say({ type: "tts", state: "stop" });
	const fidelity = await person.likenessTo("I am fine.");
	assert.ok(fidelity >= 0.9, `speaker: correlation ${fidelity}`);
	assert.deepEqual(person.complaints, []);
});
