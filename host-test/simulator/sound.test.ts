import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { it, type TestContext } from "node:test";
import { ROOT } from "xs-mcp/root";
import { connectOverHttp } from "../../e2e/clients.js";
import { wavFile } from "../doubles/wav.js";
import { captureSound, samplesIn } from "../support/captured-sound.js";
import { correlation } from "../support/correlation.js";
import { whyMissing } from "../support/optional-program.js";
import { noSdk } from "../support/sdk.js";
import { freePort, listen } from "../support/testing.js";
import { startSimulator } from "./start-simulator.js";

const SAMPLES = Int16Array.from({ length: 20_000 }, (_, at) => 1 + at);
const SAMPLE_BYTES = new Uint8Array(SAMPLES.buffer);

/** The firmware as manifest.json builds it, with a decoder of MP3 and two sound files. */
function withSounds(): string {
	// In the project's folder, as its builds are: the next run compiles less.
	const folder = join(ROOT, ".cache", "sounds");
	mkdirSync(folder, { recursive: true });
	const manifest = {
		build: { NAME: "xs-mcp" },
		include: [join(ROOT, "manifest.json"), join(ROOT, "src/sound/manifest_mp3.json")],
		data: { "*": ["./ding", "./door"] },
	};
	writeFileSync(join(folder, "manifest.json"), JSON.stringify(manifest));
	writeFileSync(join(folder, "ding.wav"), wavFile([...SAMPLE_BYTES], { sampleRate: 44_100 }));
	writeFileSync(join(folder, "door.pcm"), SAMPLE_BYTES);
	return folder;
}

/** A tone's frequency in Hertz, by its waves from one rise through zero to the last, and the root mean square of its samples. */
function measureTone(samples: readonly number[], sampleRate: number): { frequency: number; loudness: number } {
	const rises = samples.flatMap((sample, at) => (sample >= 0 && (samples[at - 1] ?? 0) < 0 ? [at] : []));
	const [first = 0, last = 1] = [rises[0], rises[rises.length - 1]];
	const squares = samples.reduce((sum, sample) => sum + sample ** 2, 0);
	return {
		frequency: ((rises.length - 1) * sampleRate) / (last - first),
		loudness: Math.sqrt(squares / samples.length),
	};
}

/** Starts it for a client that calls the tools of its speaker. */
async function startWithSounds(t: TestContext) {
	const port = await freePort();
	const { lines } = await startSimulator(t, withSounds(), [`http=${port}`, "httpToken=secret"], {
		isReady: (line) => line.startsWith("serving MCP"),
	});
	const client = await connectOverHttp(`http://127.0.0.1:${port}/mcp`, "2025-11-25", "secret");
	t.after(() => client.close());
	const call = async (name: string, args: Record<string, unknown> = {}): Promise<unknown> =>
		(await client.callTool({ name: `self.audio_speaker.${name}`, arguments: args })).content;
	return { lines, call };
}

/** Runs ffmpeg. @param args without those that read `input` and write to the result */
function ffmpeg(args: readonly string[], input?: Buffer): Buffer {
	const source = input === undefined ? [] : ["-i", "-"];
	return execFileSync("ffmpeg", ["-v", "error", ...source, ...args, "-"], { input, maxBuffer: 2 ** 24 });
}

const isHeard = (sample: number): boolean => sample !== 0;

it("the SDK's audio out in the simulator plays a chime as loud as the volume, and files from the web and of the firmware sample for sample", {
	skip: noSdk,
}, async (t) => {
	const { played } = captureSound(t);
	const { lines, call } = await startWithSounds(t);
	const loudness: number[] = [];
	for (const volume of [100, 75]) {
		await call("set_volume", { volume });
		assert.deepEqual(await call("chime"), [{ type: "text", text: "true" }], lines.join("\n"));
		const samples = samplesIn(played);
		const chime = [...samples.slice(samples.findIndex(isHeard)).slice(0, 8_000)];
		const tones = [chime.slice(0, 2_000), chime.slice(4_000, 6_000)].map((part) => measureTone(part, 16_000));
		assert.deepEqual(
			tones.map(({ frequency }) => Math.round(frequency / 10) * 10),
			[880, 1_320],
		);
		loudness.push(tones[0]?.loudness ?? 0);
	}
	// 12 decibels.
	const [loud = 0, soft = 1] = loudness;
	assert.ok(Math.abs(loud / soft - 4) < 0.2, `${loud} and ${soft}`);

	await call("set_volume", { volume: 100 });
	const file = wavFile([...SAMPLE_BYTES], { sampleRate: 44_100 });
	const server = createServer((_request, response) => response.end(file));
	const url = `http://127.0.0.1:${await listen(t, server)}/a.wav`;
	assert.deepEqual(await call("play", { url }), [{ type: "text", text: "true" }], lines.join("\n"));
	// ALSA's "null" takes samples as fast as they come. While the web is slower than that, there is silence.
	assert.deepEqual(samplesIn(played).filter(isHeard), SAMPLES);

	for (const args of [{ url: "resource:ding.wav" }, { url: "resource:door.pcm", sampleRate: 44_100 }]) {
		assert.deepEqual(await call("play", args), [{ type: "text", text: "true" }], lines.join("\n"));
		assert.deepEqual(samplesIn(played).filter(isHeard), SAMPLES);
	}
	const missing = JSON.stringify(await call("play", { url: "resource:bell.wav" }));
	assert.match(
		missing,
		/resource:bell\.wav not found; sound files of this firmware: (ding\.wav, door\.pcm|door\.pcm, ding\.wav)/,
	);
	assert.ok(!lines.some((line) => line.startsWith("it ended")), lines.join("\n"));
});

/** Zeros in sequence that were played for lack of samples, not decoded. */
const GAP = 16;

/** Removes the silence between the samples that were played, before and after them. */
function withoutGaps(samples: Int16Array): Int16Array {
	const kept = new Int16Array(samples.length);
	let [count, zeros] = [0, 0];
	for (const sample of samples) {
		if (sample !== 0) {
			count -= zeros >= GAP ? zeros : 0;
			zeros = -1;
		}
		zeros += 1;
		kept[count] = sample;
		count += 1;
	}
	return kept.subarray(0, count - zeros);
}

/** Files as ffmpeg makes them: MPEG 1 with joint stereo, MPEG 1 with a variable bit rate and a long tag, MPEG 2. */
const MP3_FILES = [
	[44_100, ["-ac", "2", "-b:a", "128k"]],
	[48_000, ["-ac", "1", "-q:a", "4", "-metadata", `comment=${"x".repeat(40_000)}`]],
	[24_000, ["-ac", "1", "-b:a", "32k"]],
] as const;

it("the SDK's decoder in the simulator plays MP3 from the web, after a redirect, as ffmpeg decodes it", {
	skip: noSdk || (whyMissing("ffmpeg", "ffmpeg") ?? false),
}, async (t) => {
	const { played } = captureSound(t);
	const { lines, call } = await startWithSounds(t);
	await call("set_volume", { volume: 100 });
	for (const [rate, options] of MP3_FILES) {
		const tones = `aevalsrc=0.4*sin(2*PI*440*t)+0.2*sin(2*PI*(900+400*t)*t):d=2:s=${rate}`;
		const file = ffmpeg(["-f", "lavfi", "-i", tones, ...options, "-f", "mp3"]);
		const server = createServer((request, response) => {
			if (request.url === "/song.wav") {
				response.end(file);
			} else {
				response.writeHead(302, { Location: "song.wav" }).end();
			}
		});
		const url = `http://127.0.0.1:${await listen(t, server)}/latest`;
		assert.deepEqual(await call("play", { url }), [{ type: "text", text: "true" }], lines.join("\n"));
		const source = withoutGaps(new Int16Array(Uint8Array.from(ffmpeg(["-ac", "1", "-f", "s16le"], file)).buffer));
		const heard = withoutGaps(samplesIn(played));
		assert.ok(Math.abs(heard.length - source.length) < 1_152, `${heard.length} samples of ${source.length}`);
		const likeness = correlation(source, heard, 1_152);
		assert.ok(likeness > 0.999, `${rate} Hz: correlation ${likeness}`);
	}
	const web = createServer((_request, response) => response.end("<html>".padEnd(100_000)));
	const page = `http://127.0.0.1:${await listen(t, web)}/song.mp3`;
	assert.match(
		JSON.stringify(await call("play", { url: page })),
		/neither a WAV nor an MP3 file: no frame within 65536 bytes/,
	);
	assert.ok(!lines.some((line) => line.startsWith("it ended")), lines.join("\n"));
});
