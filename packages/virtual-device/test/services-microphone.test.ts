import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { MICROPHONE_RATE, Microphone } from "../src/services/microphone.js";

const samples = (...values: readonly number[]): Int16Array => Int16Array.from(values);

describe("the microphone of a virtual device", () => {
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
