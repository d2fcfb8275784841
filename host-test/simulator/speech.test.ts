import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { encodeWav } from "../../gateway/src/speech/wav.js";
import { findSdk, NO_SDK } from "../../scripts/moddable/sdk.js";
import { openBackend } from "../e2e/speech-backend.js";
import { captureSound, samplesIn } from "../support/captured-sound.js";
import { correlationWithGaps } from "../support/correlation.js";
import { readOgg } from "../support/ogg.js";
import { whyMissing, whyNoOpus } from "../support/optional-program.js";
import { decode } from "../support/sounds.js";
import { samplesOf, speak } from "../support/speak.js";
import { startSimulator } from "../support/start-simulator.js";
import { until } from "../support/until.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** The format of a backend that does not name one: Hertz, and samples of 60 ms. */
const RATE = 24_000;
const FRAME = 1_440;

/** Samples of silence between two packets that are kept. */
const GAP = 100;

const sdk = findSdk();

/** What the build needs, and what the test needs. */
function whyNot(): string | undefined {
	return sdk === undefined
		? NO_SDK
		: existsSync("/usr/include/opus/opus.h")
			? (whyMissing("opusenc", "opus-tools") ?? whyMissing("espeak-ng", "espeak-ng"))
			: "libopus is missing: apt-get install libopus-dev";
}

const WHY_NOT = whyNot() ?? (await whyNoOpus());

/** The firmware as manifest.json builds it, with the decoder. */
function withOpus(): string {
	const folder = join(ROOT, ".cache", "speech");
	mkdirSync(folder, { recursive: true });
	const include = [join(ROOT, "manifest.json"), join(ROOT, "src", "sound", "opus", "manifest.json")];
	writeFileSync(join(folder, "manifest.json"), JSON.stringify({ build: { NAME: "xs-mcp" }, include }));
	return folder;
}

/** A sentence as opusenc encodes it, with a little noise: where nothing is heard, nothing was played. */
function encoded(): Uint8Array[] {
	const noisy = samplesOf(speak("The soil is dry. Please water the plant."), RATE).map(
		(sample, at) => sample + ((at * 7_919) % 401) - 200,
	);
	const wav = encodeWav({ sampleRate: RATE, samples: Buffer.from(noisy.buffer) });
	return readOgg(execFileSync("opusenc", ["--quiet", "--framesize", "60", "-", "-"], { input: wav }));
}

/** Without the silence that was played while no samples were there. */
function withoutGaps(samples: Int16Array): Int16Array {
	let silent = 0;
	return samples.filter((sample) => {
		silent = sample === 0 ? silent + 1 : 0;
		return silent <= GAP;
	});
}

describe("speech in the simulator, decoded by libopus", { skip: WHY_NOT ?? false }, () => {
	it("plays the packets of a backend, and counts those that are not Opus", async (t) => {
		const played = captureSound(t);
		const backend = await openBackend(t, 1);
		const lines = await startSimulator(t, sdk, withOpus(), [`backend=${backend.url}`]);
		await backend.greeted;
		const packets = encoded();
		const source = await decode(packets, RATE);
		for (const round of ["first", "second"]) {
			backend.say({ type: "tts", state: "start" });
			for (const packet of [...packets, Uint8Array.of(0xff), new Uint8Array(900).fill(0xff)]) {
				backend.send(packet);
			}
			backend.say({ type: "tts", state: "stop" });
			const ended = (): number => lines.filter((line) => line.startsWith("2 packets could not be decoded")).length;
			await until(() => ended() === (round === "first" ? 1 : 2), `the ${round} ends: ${lines.join("\n")}`);
			const heard = withoutGaps(samplesIn(played));
			const likeness = correlationWithGaps(source, heard, 4 * GAP + FRAME, FRAME);
			assert.ok(likeness >= 0.95, `correlation ${likeness}`);
		}
		assert.ok(!lines.some((line) => line.startsWith("it ended")), lines.join("\n"));
	});
});
