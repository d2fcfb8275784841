import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { MICROPHONE_RATE, Microphone } from "../../src/services/microphone.js";

const samples = (...values: readonly number[]): Int16Array => Int16Array.from(values);

describe("the microphone of a virtual device", () => {
	it("returns the set speech in pieces of any length, and then silence", () => {
		const microphone = new Microphone();
		assert.equal(microphone.isConnected, false);
		microphone.hear(samples(1, 2, 3), MICROPHONE_RATE);
		microphone.hear(samples(4), MICROPHONE_RATE);
		assert.deepEqual([...microphone.take(2)], [1, 2]);
		assert.deepEqual([...microphone.take(3)], [3, 4, 0]);
		assert.equal(microphone.isConnected, true);
	});

	it("returns a person's microphone while it is on, and then the rest of the set speech", () => {
		const microphone = new Microphone();
		microphone.hear(samples(1, 2), MICROPHONE_RATE);
		microphone.hearLive(samples(7, 8));
		assert.deepEqual([...microphone.take(3)], [7, 8, 0]);
		microphone.hearLive(undefined);
		assert.deepEqual([...microphone.take(3)], [1, 2, 0]);
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
