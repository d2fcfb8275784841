import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { Page } from "playwright-core";
import { bundleDevicePage } from "xs-mcp/build/page-bundles";
import { encodeWav } from "xs-mcp-gateway/wav";
import type { VirtualDevice } from "xs-mcp-virtual-device";
import { openDevicePage } from "xs-mcp-virtual-device/device-page";
import { complaintsOf, openPageWithMicrophone } from "./chromium.js";
import { correlation } from "./correlation.js";
import { samplesOf, speak } from "./speak.js";
import { temporaryFolder, until } from "./testing.js";

/** Hertz of a device's microphone. */
const RATE = 16_000;

/** Samples of a piece: 200 ms. */
const PIECE = RATE / 5;

/** Records the samples that the page plays, and their times. Sounds start late, as on a busy computer. */
const NOTE_SOUNDS = `
	globalThis.played = [];
	globalThis.ended = 0;
	globalThis.AudioContext = class extends AudioContext {
		constructor(options) {
			super(options);
			void this.suspend();
			setTimeout(() => super.resume(), 500);
		}
	};
	const start = AudioBufferSourceNode.prototype.start;
	AudioBufferSourceNode.prototype.start = function (when) {
		const { sampleRate } = this.context;
		played.push({ when, sampleRate, samples: Array.from(this.buffer.getChannelData(0)) });
		this.addEventListener("ended", () => { ended += 1; });
		start.call(this, when);
	};`;

interface Played {
	/** Seconds. */
	readonly when: number;
	readonly sampleRate: number;
	readonly samples: readonly number[];
}

/** A device's page in Chromium, before a person who says the same sentence again and again once the microphone is on. */
export async function talkAtPage(t: TestContext, device: VirtualDevice, sentence: string, pause: number) {
	const served = await openDevicePage(device, await bundleDevicePage(), 0);
	t.after(() => served.close());
	const said = Int16Array.from([...new Int16Array(pause * RATE), ...samplesOf(speak(sentence), RATE)]);
	const file = join(temporaryFolder("xs-mcp-talk-"), "said.wav");
	writeFileSync(file, encodeWav({ sampleRate: RATE, samples: Buffer.from(said.buffer) }));
	const page = await openPageWithMicrophone(t, file);
	await page.addInitScript(NOTE_SOUNDS);
	await page.goto(served.url);
	return {
		page,
		complaints: complaintsOf(page),
		said,
		toggleMicrophone: async (from: "on" | "off"): Promise<void> => {
			await page.getByRole("button", { name: `Microphone ${from}` }).click();
			await page.getByRole("button", { name: `Microphone ${from === "on" ? "off" : "on"}` }).waitFor();
		},
		likenessTo: async (answer: string): Promise<number> => {
			await page.getByLabel("Last sound").waitFor();
			const played = await soundsOf(page);
			const heard = Int16Array.from(played.flatMap(({ samples }) => samples.map((sample) => sample * 0x8000)));
			return likenessOfPieces(samplesOf(speak(answer), played[0]?.sampleRate ?? 0), heard);
		},
	};
}

async function soundsOf(page: Page): Promise<readonly Played[]> {
	await until(() => page.evaluate("ended === played.length"), "every sound has been played");
	const played = (await page.evaluate("played")) as Played[];
	const gaps = played.slice(1).map(({ when, sampleRate }, index) => {
		const before = played[index] as Played;
		return (when - before.when) * sampleRate - before.samples.length;
	});
	// A busy browser may leave gaps.
	assert.ok(Math.min(...gaps) > -1, `samples between two pieces: ${gaps}`);
	return played;
}

/** The least correlation of half of a sound's pieces with the recording: a busy computer loses or conceals parts of it. */
export function likenessOfPieces(source: Int16Array, heard: Int16Array): number {
	const found: number[] = [];
	for (let at = 0; at + PIECE <= source.length; at += PIECE) {
		const piece = source.subarray(at, at + PIECE);
		if (piece.some((sample) => Math.abs(sample) > 1_000)) {
			found.push(correlation(piece, heard, heard.length - PIECE));
		}
	}
	return found.sort((one, other) => one - other)[found.length >> 1] ?? 0;
}
