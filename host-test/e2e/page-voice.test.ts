import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { SharedPackets } from "../../gateway/src/speech/packets.js";
import { resample } from "../../gateway/src/speech/resample.js";
import { encodeWav } from "../../gateway/src/speech/wav.js";
import { bundleDevicePage } from "../../toolchain/page-bundles.js";
import { DevicePage } from "../../virtual-device/src/page/device-page.js";
import { openPageWithMicrophone, whyNoChromium } from "../support/chromium.js";
import { correlation } from "../support/correlation.js";
import { whyMissing, whyNoOpus } from "../support/optional-program.js";
import { skipIf } from "../support/skip-if.js";
import { decode } from "../support/sounds.js";
import { speak } from "../support/speak.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { until } from "../support/until.js";
import { ENGINES, startDevice } from "./fixtures.js";
import { openBackend } from "./speech-backend.js";

// A person talks with a backend by voice, at the page of a virtual device in Chromium. Its microphone hears a file.

const [engine] = ENGINES as [(typeof ENGINES)[number]];

const RATE = 16_000;

/** Records the samples that the page plays, and their times. */
const NOTE_SOUNDS = `
	globalThis.played = [];
	const start = AudioBufferSourceNode.prototype.start;
	AudioBufferSourceNode.prototype.start = function (when) {
		const { sampleRate, state } = this.context;
		played.push({ when, sampleRate, state, samples: Array.from(this.buffer.getChannelData(0)) });
		start.call(this, when);
	};`;

interface Played {
	/** Seconds. */
	readonly when: number;
	readonly sampleRate: number;
	readonly state: string;
	readonly samples: readonly number[];
}

/** Speech and a pause, as a file for a browser's fake microphone. */
function sayToFile(text: string): { file: string; samples: Int16Array } {
	const { sampleRate, samples } = speak(text);
	const file = join(temporaryFolder("xs-mcp-page-voice-"), "said.wav");
	const withPause = Int16Array.from([...samples, ...new Int16Array(sampleRate / 2)]);
	writeFileSync(file, encodeWav({ sampleRate, samples: Buffer.from(withPause.buffer) }));
	return { file, samples: resample(withPause, sampleRate, RATE) };
}

/** Samples of a piece: 200 ms. */
const PIECE = RATE / 5;

/** The least correlation of half of a sound's pieces with the recording: a busy browser loses parts of it. */
function likenessOfPieces(source: Int16Array, heard: Int16Array): number {
	const found: number[] = [];
	for (let at = 0; at + PIECE <= source.length; at += PIECE) {
		const piece = source.subarray(at, at + PIECE);
		if (piece.some((sample) => Math.abs(sample) > 1_000)) {
			found.push(correlation(piece, heard, heard.length - PIECE));
		}
	}
	return found.sort((one, other) => one - other)[found.length >> 1] ?? 0;
}

const SKIP = whyNoChromium || skipIf(await whyNoOpus()) || skipIf(whyMissing("espeak-ng", "espeak-ng"));

describe("a virtual device's page", { skip: SKIP }, () => {
	it("takes what a person says to the backend, and plays its answer, one piece after the other", async (t) => {
		const backend = await openBackend(t, 1);
		const { device } = await startDevice(t, engine, { config: { backend: backend.url } });
		const served = await DevicePage.open(device, await bundleDevicePage(), 0);
		t.after(() => served.close());
		await backend.greeted;
		const said = sayToFile("Hello, how are you?");
		const page = await openPageWithMicrophone(t, said.file);
		const complaints: string[] = [];
		page.on("pageerror", (error) => complaints.push(String(error)));
		page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
		await page.addInitScript(NOTE_SOUNDS);
		await page.goto(served.url);

		await page.getByRole("button", { name: "Microphone off" }).click();
		await page.getByRole("button", { name: "Microphone on" }).waitFor();
		await page.getByRole("button", { name: "boot" }).click();
		// The sentence comes again and again: this has it once from its beginning to its end.
		await until(() => backend.packets.length * 960 > 2 * said.samples.length + RATE, "it is heard");
		const heard = await decode(backend.packets, RATE);
		const likeness = likenessOfPieces(said.samples, heard);
		assert.ok(likeness >= 0.8, `microphone: correlation ${likeness}`);
		await page.getByRole("button", { name: "Microphone on" }).click();
		await page.getByRole("button", { name: "Microphone off" }).waitFor();

		const answer = speak("I am fine.");
		backend.say({ type: "tts", state: "start" });
		for await (const packet of await SharedPackets.open({ ...answer, samples: Buffer.from(answer.samples.buffer) })) {
			backend.send(packet);
		}
		backend.say({ type: "tts", state: "stop" });
		await page.getByLabel("Last sound").waitFor();
		const played = (await page.evaluate("played")) as Played[];
		assert.ok(played.every(({ state }) => state === "running"));
		const gaps = played.slice(1).map(({ when, sampleRate }, index) => {
			const before = played[index] as Played;
			return (when - before.when) * sampleRate - before.samples.length;
		});
		// A busy browser may leave gaps.
		assert.ok(Math.min(...gaps) > -1, `samples between two pieces: ${gaps}`);
		const samples = Int16Array.from(played.flatMap((piece) => piece.samples.map((sample) => sample * 0x8000)));
		const answered = resample(answer.samples, answer.sampleRate, played[0]?.sampleRate ?? 0);
		const fidelity = correlation(answered, samples, RATE);
		assert.ok(fidelity >= 0.9, `speaker: correlation ${fidelity}`);
		assert.deepEqual(complaints, []);
	});
});
