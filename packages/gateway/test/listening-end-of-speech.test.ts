import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { whyMissing } from "../../../host-test/support/optional-program.js";
import { samplesOf, speak } from "../../../host-test/support/speak.js";
import { skipIf } from "../../../host-test/support/testing.js";
import { EndOfSpeech, LISTENING_RATE } from "../src/listening/recording.js";

const PACKET = 960;

const spoken = new Map<string, Int16Array>();

function say(voice: string, text: string): Int16Array {
	const samples = spoken.get(text) ?? samplesOf(speak(text, voice), LISTENING_RATE);
	spoken.set(text, samples);
	return samples;
}

function rms(samples: Int16Array): number {
	return Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length);
}

/** Numbers from -1 to 1 that are the same in each run. */
function* random(): Generator<number> {
	for (let state = 1; ; ) {
		state = (state * 48_271) % 2_147_483_647;
		yield (2 * state) / 2_147_483_647 - 1;
	}
}

const NOISES: Readonly<Record<string, (count: number) => number[]>> = {
	none: (count) => new Array<number>(count).fill(0),
	white(count) {
		const numbers = random();
		return Array.from({ length: count }, () => numbers.next().value as number);
	},
	"a fan": (count) => {
		const numbers = random();
		let low = 0;
		return Array.from({ length: count }, () => {
			low = 0.95 * low + (numbers.next().value as number);
			return low;
		});
	},
	"mains hum": (count) => Array.from({ length: count }, (_, at) => Math.sin((2 * Math.PI * 50 * at) / LISTENING_RATE)),
};

/** Silence, the speech, and silence, in a noise that is so many decibels below the speech. */
function inNoise(speech: Int16Array, noise: string, decibels: number, before = 1_000, after = 3_000): Int16Array {
	const [lead, tail] = [before, after].map((time) => (time * LISTENING_RATE) / 1_000) as [number, number];
	const mixed = new Int16Array(lead + speech.length + tail);
	mixed.set(speech, lead);
	const noisy = (NOISES[noise] as (count: number) => number[])(mixed.length);
	const power = Math.sqrt(noisy.reduce((sum, each) => sum + each * each, 0) / noisy.length) || 1;
	const gain = rms(speech) / 10 ** (decibels / 20) / power;
	return mixed.map((sample, at) => Math.max(-32_768, Math.min(32_767, sample + gain * (noisy[at] as number))));
}

/** Milliseconds after which the end was found; undefined: it was not. */
function endIn(samples: Int16Array): number | undefined {
	const detector = new EndOfSpeech();
	for (let at = 0; at < samples.length; at += PACKET) {
		detector.add(samples.subarray(at, at + PACKET));
		if (detector.hasEnded) {
			return ((at + PACKET) * 1_000) / LISTENING_RATE;
		}
	}
	return undefined;
}

const SENTENCES = [
	["en", "Yes."],
	["en", "Please turn on the light in the kitchen, and close the window."],
	["ja", "台所の電気をつけてください。"],
	["cmn", "请把厨房的灯打开。"],
] as const;

describe("the end of speech", { skip: skipIf(whyMissing("espeak-ng", "espeak-ng")) }, () => {
	for (const [voice, text] of SENTENCES) {
		for (const noise of Object.keys(NOISES)) {
			for (const decibels of noise === "none" ? [99] : [30, 20, 12]) {
				it(`of "${text}" is found in ${noise}, ${decibels} dB below`, () => {
					const speech = say(voice, text);
					const spoken = 1_000 + (speech.length * 1_000) / LISTENING_RATE;
					const found = endIn(inNoise(speech, noise, decibels));
					assert.ok(found !== undefined, "not found");
					// espeak-ng's files end with some silence.
					assert.ok(found > spoken - 300 && found < spoken + 1_500, `found after ${found} ms of ${spoken}`);
				});
			}
		}
	}

	it("is not found before speech, even after a long silence", () => {
		for (const noise of Object.keys(NOISES)) {
			const samples = inNoise(say("en", "Yes."), noise, 20, 20_000, 0).subarray(0, 20 * LISTENING_RATE);
			assert.equal(endIn(samples), undefined, noise);
		}
	});

	it("is found if speech starts at once", () => {
		const speech = say("en", "Turn on the light.");
		assert.ok((endIn(inNoise(speech, "white", 20, 0)) ?? 0) > (speech.length * 1_000) / LISTENING_RATE - 300);
	});

	it("is found although a noise begins during speech", () => {
		const speech = say("en", "Turn on the light.");
		const quiet = inNoise(speech, "white", 40, 500, 0);
		const loud = inNoise(new Int16Array(1).fill(2_000), "white", 6, 0, 12_000);
		const both = new Int16Array(quiet.length + loud.length);
		both.set(quiet);
		both.set(loud, quiet.length);
		assert.ok((endIn(both) ?? 99_999) < 10_000);
	});

	it("a click is not speech", () => {
		const samples = inNoise(new Int16Array(1), "white", 0, 0, 5_000).map((_, at) =>
			at > 30_000 && at < 31_000 ? 20_000 * (at % 2) : 50 * (at % 3),
		);
		assert.equal(endIn(samples), undefined);
	});
});
