import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createWriteStream, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { describe, it, type TestContext } from "node:test";
import { ROOT } from "xs-mcp/root";
import { OggOpusReader } from "xs-mcp-firmware/features/voice/ogg-opus";
import { encodeWav } from "xs-mcp-gateway/wav";
import { openBackend, openUdpBackend } from "../../e2e/speech-backend.js";
import { captureSound, samplesIn } from "../support/captured-sound.js";
import { correlation, correlationWithGaps } from "../support/correlation.js";
import { whyMissing, whyNoOpus } from "../support/optional-program.js";
import { noSdk } from "../support/sdk.js";
import { decode } from "../support/sounds.js";
import { samplesOf, speak } from "../support/speak.js";
import { until } from "../support/testing.js";
import { startSimulator } from "./start-simulator.js";

/** The format of a backend that does not name one: Hertz, and samples of 60 ms. */
const RATE = 24_000;
const FRAME = 1_440;

/** The rate at which the firmware records, Hertz. */
const RECORDED_RATE = 16_000;

/** Bytes that are written together: the audio in reads 1,000, and ALSA would add silence to fewer. */
const RECORDED_BYTES = 2_000;

/** Packets of sound that a microphone is ahead. */
const AHEAD = 4;

/** Samples of silence between two packets that are kept. */
const GAP = 100;

/** The requirements of the build, and of the test. */
function whyNot(): string | undefined {
	return noSdk
		? noSdk
		: existsSync("/usr/include/opus/opus.h")
			? (whyMissing("opusenc", "opus-tools") ?? whyMissing("espeak-ng", "espeak-ng"))
			: "libopus is missing: apt-get install libopus-dev";
}

const WHY_NOT = whyNot() ?? (await whyNoOpus());

/** The firmware as manifest.json builds it, with the decoder. */
function withOpus(): string {
	const folder = join(ROOT, ".cache", "speech");
	mkdirSync(folder, { recursive: true });
	const include = [join(ROOT, "manifest.json"), join(ROOT, "src/sound/manifest_opus.json")];
	writeFileSync(join(folder, "manifest.json"), JSON.stringify({ build: { NAME: "xs-mcp" }, include }));
	return folder;
}

/** A sentence as opusenc encodes it, with a little noise: where nothing is heard, nothing was played. */
function encoded(): Uint8Array[] {
	const noisy = samplesOf(speak("The soil is dry. Please water the plant."), RATE).map(
		(sample, at) => sample + ((at * 7_919) % 401) - 200,
	);
	const wav = encodeWav({ sampleRate: RATE, samples: Buffer.from(noisy.buffer) });
	const reader = new OggOpusReader();
	reader.add(Uint8Array.from(execFileSync("opusenc", ["--quiet", "--framesize", "60", "-", "-"], { input: wav })));
	const packets: Uint8Array[] = [];
	for (let packet = reader.next(); packet !== undefined; packet = reader.next()) {
		packets.push(packet);
	}
	return packets;
}

/** The firmware with the codec, in a session with a backend. */
async function startWithOpus(t: TestContext, ...settings: string[]) {
	const backend = await openBackend(t, 1);
	const { lines } = await startSimulator(t, withOpus(), [`backend=${backend.url}`, ...settings]);
	await backend.greeted;
	return { backend, lines };
}

/**
 * A microphone's recording: a sound, and then silence. A few packets ahead of those that arrive, as if it were in real time;
 * without end once the recording is to stop, since what reads it waits for samples.
 */
async function* recorded(sound: Int16Array, packets: readonly Uint8Array[], isOver: () => boolean) {
	const bytes = Buffer.from(sound.buffer, sound.byteOffset, sound.byteLength);
	const before = packets.length;
	for (let count = 0; ; count += 1) {
		await until(() => isOver() || count < packets.length - before + AHEAD, `piece ${count} is recorded`);
		const piece = bytes.subarray(count * RECORDED_BYTES, (count + 1) * RECORDED_BYTES);
		yield Buffer.concat([piece, Buffer.alloc(RECORDED_BYTES - piece.length)]);
	}
}

/** Removes the silence that was played for lack of samples. */
function withoutGaps(samples: Int16Array): Int16Array {
	let silent = 0;
	return samples.filter((sample) => {
		silent = sample === 0 ? silent + 1 : 0;
		return silent <= GAP;
	});
}

describe("speech in the simulator, decoded and encoded by libopus", { skip: WHY_NOT ?? false }, () => {
	it("plays a backend's packets and counts invalid ones", async (t) => {
		const { played } = captureSound(t);
		const { backend, lines } = await startWithOpus(t);
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

	it("goes both ways over UDP behind MQTT, with a tenth of the packets lost", async (t) => {
		const { played, microphone } = captureSound(t);
		const backend = await openUdpBackend(t);
		const settings = Object.entries(backend.config).map(([name, value]) => `${name}=${value}`);
		const { lines } = await startSimulator(t, withOpus(), settings);
		await until(() => backend.packets.length > 0, `its channel is open: ${lines.join("\n")}`);
		const sentence = samplesOf(speak("Switch on the light in the kitchen, please."), RECORDED_RATE);
		const before = backend.packets.length;
		let isOver = false;
		const closed = pipeline(
			recorded(sentence, backend.packets, () => isOver),
			createWriteStream(microphone),
		).catch(({ code }) => code);
		backend.say({ type: "listen", state: "start", session_id: "s" });
		await until(
			() => (backend.packets.length - before) * 960 > sentence.length + 960,
			`the sentence is recorded: ${lines.join("\n")}`,
		);
		const likeness = correlation(sentence, await decode(backend.packets.slice(before), RECORDED_RATE), 400);
		assert.ok(likeness >= 0.95, `correlation ${likeness}`);
		isOver = true;
		backend.say({ type: "tts", state: "start", session_id: "s" });
		assert.equal(await closed, "EPIPE");
		const answer = encoded();
		for (const [at, packet] of answer.entries()) {
			backend.send(packet, 0, at % 10 === 3);
		}
		const source = await decode(answer, RATE);
		const heard = (): Int16Array => withoutGaps(samplesIn(played));
		await until(() => heard().length > 0.8 * source.length, `most of it is played: ${lines.join("\n")}`);
		backend.say({ type: "tts", state: "stop", session_id: "s" });
		const starts = (): number => backend.messages.filter((each) => each === "listen start").length;
		await until(() => starts() === 2, `it listens again: ${lines.join("\n")}`);
		const answered = correlationWithGaps(source, heard(), 4 * GAP + FRAME, FRAME);
		assert.ok(answered >= 0.8, `correlation ${answered}`);
		assert.ok(!lines.some((line) => /^it ended|cannot record|could not be decoded/.test(line)), lines.join("\n"));
	});

	it("records while it listens, not while the backend speaks, and again after that", async (t) => {
		const { played, microphone } = captureSound(t);
		const { backend, lines } = await startWithOpus(t);
		const spoken = samplesOf(speak("Switch on the light in the kitchen, please."), RECORDED_RATE);
		const answer = encoded();
		const heard = (message: string): number => backend.messages.filter((each) => each === message).length;
		for (const round of ["first", "second"]) {
			const before = backend.packets.length;
			let isOver = false;
			const closed = pipeline(
				recorded(spoken, backend.packets, () => isOver),
				createWriteStream(microphone),
			).catch(({ code }) => code);
			if (round === "first") {
				backend.say({ type: "listen", state: "start" });
			}
			await until(
				() => (backend.packets.length - before) * 960 > spoken.length + 960,
				`the ${round} sentence is recorded: ${lines.join("\n")}`,
			);
			const likeness = correlation(spoken, await decode(backend.packets.slice(before), RECORDED_RATE), 400);
			assert.ok(likeness >= 0.95, `correlation ${likeness}`);
			isOver = true;
			if (round === "first") {
				backend.say({ type: "tts", state: "start" });
				answer.forEach(backend.send);
				assert.equal(await closed, "EPIPE");
				backend.say({ type: "tts", state: "stop" });
				await until(() => heard("listen start") === 2, `it listens again: ${lines.join("\n")}`);
				const source = await decode(answer, RATE);
				const answered = correlationWithGaps(source, withoutGaps(samplesIn(played)), 4 * GAP + FRAME, FRAME);
				assert.ok(answered >= 0.95, `correlation ${answered}`);
			} else {
				backend.say({ type: "listen", state: "stop" });
				assert.equal(await closed, "EPIPE");
				await until(() => heard("listen stop") === 1, "it stops");
			}
		}
		assert.ok(!lines.some((line) => /^it ended|cannot record|could not be decoded/.test(line)), lines.join("\n"));
	});

	it("in realtime, records while the backend speaks", async (t) => {
		const { played, microphone } = captureSound(t);
		const { backend, lines } = await startWithOpus(t, "listenMode=realtime");
		const spoken = samplesOf(speak("Switch on the light in the kitchen, please."), RECORDED_RATE);
		let isOver = false;
		const closed = pipeline(
			recorded(spoken, backend.packets, () => isOver),
			createWriteStream(microphone),
		).catch(({ code }) => code);
		backend.say({ type: "listen", state: "start" });
		await until(() => backend.packets.length > AHEAD, `it listens: ${lines.join("\n")}`);
		const answer = encoded();
		backend.say({ type: "tts", state: "start" });
		answer.forEach(backend.send);
		await until(() => backend.packets.length * 960 > spoken.length + 960, `it is recorded: ${lines.join("\n")}`);
		const likeness = correlation(spoken, await decode(backend.packets, RECORDED_RATE), 400);
		assert.ok(likeness >= 0.95, `correlation ${likeness}`);
		const source = await decode(answer, RATE);
		const heard = (): Int16Array => withoutGaps(samplesIn(played));
		await until(() => heard().length > 0.9 * source.length, `it is played: ${lines.join("\n")}`);
		const answered = correlationWithGaps(source, heard(), 4 * GAP + FRAME, FRAME);
		assert.ok(answered >= 0.8, `correlation ${answered}`);
		backend.say({ type: "tts", state: "stop" });
		backend.say({ type: "listen", state: "stop" });
		isOver = true;
		assert.equal(await closed, "EPIPE");
		assert.deepEqual(backend.messages.slice(0, 2), ["hello", "listen start"]);
		assert.ok(!lines.some((line) => /^it ended|cannot record|could not be decoded/.test(line)), lines.join("\n"));
	});
});
