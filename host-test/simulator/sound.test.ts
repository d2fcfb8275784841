import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { it } from "node:test";
import { ROOT } from "xs-mcp/root";
import { connectOverHttp } from "../../e2e/clients.js";
import { wavFile } from "../doubles/wav.js";
import { captureSound, samplesIn } from "../support/captured-sound.js";
import { noSdk } from "../support/sdk.js";
import { freePort, listen } from "../support/testing.js";
import { startSimulator } from "./start-simulator.js";

const SAMPLES = Int16Array.from({ length: 20_000 }, (_, at) => 1 + at);
const SAMPLE_BYTES = new Uint8Array(SAMPLES.buffer);

/** The firmware as manifest.json builds it, with two sound files. */
function withSounds(): string {
	// In the project's folder, as its builds are: the next run compiles less.
	const folder = join(ROOT, ".cache", "sounds");
	mkdirSync(folder, { recursive: true });
	const manifest = {
		build: { NAME: "xs-mcp" },
		include: [join(ROOT, "manifest.json")],
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

const isHeard = (sample: number): boolean => sample !== 0;

it("the SDK's audio out in the simulator plays a chime as loud as the volume, and files from the web and of the firmware sample for sample", {
	skip: noSdk,
}, async (t) => {
	const { played } = captureSound(t);
	const port = await freePort();
	const { lines } = await startSimulator(t, withSounds(), [`http=${port}`, "httpToken=secret"], {
		isReady: (line) => line.startsWith("serving MCP"),
	});
	const client = await connectOverHttp(`http://127.0.0.1:${port}/mcp`, "2025-11-25", "secret");
	t.after(() => client.close());
	const call = async (name: string, args: Record<string, unknown> = {}): Promise<unknown> =>
		(await client.callTool({ name: `self.audio_speaker.${name}`, arguments: args })).content;

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
