import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { openOpusDecoder, openOpusEncoder } from "xs-mcp/build/opus";
import { correlation } from "../../../host-test/support/correlation.js";
import { whyNoOpus } from "../../../host-test/support/optional-program.js";
import { skipIf } from "../../../host-test/support/testing.js";
import { Playout } from "../src/services/sounds.js";

// A jitter buffer without a clock: a test plays one packet after the other, as a speaker does in real time.

const RATE = 16_000;
const DURATION = 60;
const FRAME = (RATE * DURATION) / 1_000;
const LOST = new Uint8Array(0);

/** A tone whose loudness rises and falls, as a voice's does: packets, and the samples that they are of. */
async function spoken(count: number): Promise<{ packets: Uint8Array[]; source: Int16Array }> {
	const source = Int16Array.from({ length: count * FRAME }, (_, at) => {
		const loudness = 6_000 * (1 + Math.sin((at * 3 * 2 * Math.PI) / RATE));
		return loudness * Math.sin((at * 220 * 2 * Math.PI) / RATE);
	});
	const encoder = await openOpusEncoder(RATE, DURATION);
	const packets = Array.from({ length: count }, (_, at) => encoder.encode(source.slice(at * FRAME, (at + 1) * FRAME)));
	encoder.free();
	return { packets, source };
}

const open = async () => new Playout(await openOpusDecoder(RATE), FRAME);

/** Plays the packets of each period, and then what is left. Undefined: nothing was played in that period. */
function play(playout: Playout, periods: readonly (readonly Uint8Array[])[]): (Int16Array | undefined)[] {
	const heard = periods.map((packets) => {
		for (const packet of packets) {
			playout.add(packet);
		}
		return playout.next();
	});
	playout.complete();
	while (!playout.isOver) {
		heard.push(playout.next());
	}
	return heard;
}

const joined = (pieces: readonly (Int16Array | undefined)[]) =>
	Int16Array.from(pieces.flatMap((piece) => [...(piece ?? [])]));

describe("a jitter buffer", { skip: skipIf(await whyNoOpus()) }, () => {
	it("begins with the second packet, and plays each to its end", async () => {
		const { packets, source } = await spoken(20);
		const heard = play(
			await open(),
			packets.map((packet) => [packet]),
		);
		const found = heard.map((piece) => piece?.length);
		assert.deepEqual(found, [undefined, ...new Array(20).fill(FRAME)]);
		assert.ok(correlation(source, joined(heard), FRAME) > 0.95);
	});

	it("begins with the first if no other follows", async () => {
		const { packets } = await spoken(1);
		assert.equal(joined(play(await open(), [packets])).length, FRAME);
	});

	it("conceals a loss of a tenth: the sound keeps its length", async () => {
		const { packets, source } = await spoken(300);
		const sent = packets.map((packet, at) => (at % 10 === 3 ? LOST : packet));
		const periods = sent.map((packet) => [packet]);
		const heard = joined(play(await open(), periods));
		assert.equal(heard.length, source.length);
		const likeness = correlation(source, heard, FRAME);
		assert.ok(likeness > 0.8, `correlation ${likeness}`);
		// A concealed packet is more like the sound than silence would be.
		const silent = heard.map((sample, at) => (sent[Math.floor(at / FRAME)] === LOST ? 0 : sample));
		assert.ok(likeness >= correlation(source, silent, FRAME));
	});

	it("plays packets that come in bursts as if they came evenly", async () => {
		const { packets, source } = await spoken(30);
		const bursts = packets.map((_, at) => (at % 3 === 0 ? packets.slice(at, at + 3) : []));
		const heard = joined(play(await open(), bursts));
		assert.equal(heard.length, source.length);
		assert.ok(correlation(source, heard, FRAME) > 0.95);
	});

	it("conceals a gap of three packets, is silent after that, and waits for two packets then", async () => {
		const { packets } = await spoken(10);
		const [one, two, three, four] = packets as [Uint8Array, Uint8Array, Uint8Array, Uint8Array];
		const heard = play(await open(), [[one, two], [], [], [], [], [], [], [three], [four]]);
		const loud = heard.map((piece) => piece?.some((sample) => Math.abs(sample) > 100));
		assert.deepEqual(loud, [true, true, true, true, true, false, undefined, undefined, true, true]);
	});

	it("conceals what is no Opus, and plays on", async () => {
		const { packets } = await spoken(6);
		const wrong = new Uint8Array(4_000).fill(0xff);
		const heard = play(
			await open(),
			[...packets.slice(0, 3), wrong, ...packets.slice(3)].map((packet) => [packet]),
		);
		assert.equal(joined(heard).length, 7 * FRAME);
	});
});
