import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { describe, it, type TestContext } from "node:test";
import { openOpusEncoder } from "xs-mcp/build/opus";
import { correlation } from "../../../host-test/support/correlation.js";
import { whyNoOpus } from "../../../host-test/support/optional-program.js";
import { skipIf, until } from "../../../host-test/support/testing.js";
import { Environment } from "../src/environment.js";
import { hearThrough, MICROPHONE_RATE, Microphone, openOpus } from "../src/services/codecs.js";
import { type Open, openConnections } from "../src/services/service.js";

const FRAME = 960;
const LOST = new Uint8Array(0);

/** A tone whose loudness rises and falls, as a voice's does: packets, and their samples. */
async function spoken(count: number): Promise<{ packets: Uint8Array[]; source: Int16Array }> {
	const source = Int16Array.from({ length: count * FRAME }, (_, at) => {
		const loudness = 6_000 * (1 + Math.sin((at * 3 * 2 * Math.PI) / MICROPHONE_RATE));
		return loudness * Math.sin((at * 220 * 2 * Math.PI) / MICROPHONE_RATE);
	});
	const encoder = await openOpusEncoder(MICROPHONE_RATE, 60);
	const packets = Array.from({ length: count }, (_, at) => encoder.encode(source.slice(at * FRAME, (at + 1) * FRAME)));
	encoder.free();
	return { packets, source };
}

interface Result {
	readonly kind: unknown;
	readonly bad: unknown;
	readonly bytes: Uint8Array;
}

/** A thread of Opus, or the microphone, as the firmware has it: the number 1. */
function open(t: TestContext, service: Open, ...parameters: readonly (number | null)[]) {
	const results: Result[] = [];
	const services = openConnections("it", service, ({ header: [kind, , bad], bytes = LOST }) => {
		results.push({ kind, bad, bytes });
	});
	t.after(() => services.close());
	services.take("open", [1, ...parameters]);
	return {
		results,
		write: (what: string, block?: Uint8Array) => services.take("write", [1, what], block),
		close: () => services.take("close", [1]),
		/** Writes the last blocks, and reads the results until there are as many as blocks. */
		async convert(blocks: readonly Uint8Array[], total = blocks.length): Promise<void> {
			for (const block of blocks) {
				services.take("write", [1, "block"], block);
			}
			services.take("write", [1, "complete"]);
			while (results.length < total) {
				const count = results.length;
				services.take("write", [1, "next"]);
				await until(() => results.length > count, "it works");
			}
		},
	};
}

const samplesOf = (results: readonly Result[]): Int16Array =>
	new Int16Array(Uint8Array.from(Buffer.concat(results.map(({ bytes }) => bytes))).buffer);

describe("Opus of a virtual device", { skip: skipIf(await whyNoOpus()) }, () => {
	it("is decoded once enough packets wait, one after the other as they are read, and again after a gap", async (t) => {
		const { packets } = await spoken(5);
		const decoder = open(t, openOpus, MICROPHONE_RATE, FRAME, 2);
		const [one = LOST, two, three, ...others] = packets;
		decoder.write("block", one);
		await new Promise(setImmediate);
		assert.equal(decoder.results.length, 0);
		decoder.write("block", two);
		await until(() => decoder.results.length === 1, "two wait");
		decoder.write("next");
		assert.equal(decoder.results.length, 2);
		decoder.write("next");
		decoder.write("block", three);
		assert.equal(decoder.results.length, 2, "the next ones have to wait again");
		await decoder.convert(others, 5);
		assert.deepEqual(
			decoder.results.map(({ bytes }) => bytes.byteLength),
			new Array(5).fill(2 * FRAME),
		);
	});

	it("is like what was recorded, and a loss of a tenth is concealed", async (t) => {
		const { packets, source } = await spoken(100);
		for (const [sent, least] of [
			[packets, 0.95],
			[packets.map((packet, at) => (at % 10 === 3 ? LOST : packet)), 0.8],
		] as const) {
			const decoder = open(t, openOpus, MICROPHONE_RATE, FRAME, 3);
			await decoder.convert(sent);
			const heard = samplesOf(decoder.results);
			assert.equal(heard.length, source.length);
			const likeness = correlation(source, heard, FRAME);
			assert.ok(likeness > least, `correlation ${likeness}`);
			assert.equal(decoder.results.at(-1)?.bad, 0);
		}
	});

	it("conceals what is no Opus, and counts it", async (t) => {
		const { packets } = await spoken(3);
		const decoder = open(t, openOpus, MICROPHONE_RATE, FRAME, 3);
		await decoder.convert([...packets, new Uint8Array(4_000).fill(0xff)]);
		assert.deepEqual(
			decoder.results.map(({ bad, bytes }) => [bad, bytes.byteLength]),
			[0, 0, 0, 1].map((bad) => [bad, 2 * FRAME]),
		);
	});

	it("is encoded", async (t) => {
		const { packets, source } = await spoken(3);
		const encoder = open(t, openOpus, MICROPHONE_RATE, FRAME, null);
		const frames = packets.map((_, at) => new Uint8Array(source.buffer, 2 * at * FRAME, 2 * FRAME));
		await encoder.convert(frames);
		assert.deepEqual(
			encoder.results.map(({ bytes }) => Buffer.from(bytes).toString("hex")),
			packets.map((packet) => Buffer.from(packet).toString("hex")),
		);
	});

	it("fails with the reason at a sample rate that it does not have", async (t) => {
		const { results } = open(t, openOpus, 44_100, 2_646, 3);
		await until(() => results.length > 0, "it fails");
		assert.equal(results[0]?.kind, "it.error");
	});

	it("is not touched any more if it is closed while it opens", async (t) => {
		const { packets } = await spoken(1);
		const decoder = open(t, openOpus, MICROPHONE_RATE, FRAME, 1);
		decoder.write("block", packets[0]);
		decoder.close();
		await new Promise((resolve) => setTimeout(resolve, 50));
		assert.deepEqual(decoder.results, []);
	});
});

const samples = (...values: readonly number[]): Int16Array => Int16Array.from(values);

describe("the microphone of a virtual device", () => {
	it("records once something is connected", async (t) => {
		const environment = new Environment(new EventEmitter(), "", undefined);
		const { results } = open(t, hearThrough(environment));
		await new Promise((resolve) => setTimeout(resolve, 50));
		assert.equal(results.length, 0);
		environment.microphone.hear(samples(...new Array(320).fill(7)), MICROPHONE_RATE);
		await until(() => results.length > 0, "it records");
		const [first] = results as readonly Result[];
		assert.equal(first?.kind, "it.samples");
		assert.deepEqual(new Set(samplesOf(results.slice(0, 1))), new Set([7]));
	});

	it("keeps 300 ms of a person's microphone between reads", () => {
		const microphone = new Microphone();
		for (let piece = 1; piece <= 10; piece += 1) {
			microphone.hearLive(new Int16Array(960).fill(piece));
		}
		const heard = new Set(microphone.take(4_800));
		assert.deepEqual([...heard], [6, 7, 8, 9, 10]);
		assert.deepEqual([...microphone.take(1)], [0]);
	});

	it("hears silence while it is muted, and refuses more than five minutes", () => {
		const microphone = new Microphone();
		microphone.hear(samples(5), MICROPHONE_RATE);
		microphone.isMuted = true;
		assert.deepEqual([...microphone.take(1)], [0]);
		assert.throws(() => microphone.hear(new Int16Array(301 * MICROPHONE_RATE), MICROPHONE_RATE), /more than 300 s/);
	});
});
