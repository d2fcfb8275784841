import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { packetDuration } from "../../src/devices/audio-link.js";

describe("the duration of a packet of Opus", () => {
	for (const [bytes, duration, what] of [
		[[0x58], 60, "SILK of 60 ms without a sound"],
		[[0x08, 1], 20, "SILK of 20 ms"],
		[[0x60, 1], 10, "hybrid of 10 ms"],
		[[0xf8, 0xff, 0xfe], 20, "CELT of 20 ms"],
		[[0x80, 1], 2.5, "CELT of 2.5 ms"],
		[[0xf9, 1, 2], 40, "two frames of one size"],
		[[0xfa, 1, 2], 40, "two frames of two sizes"],
		[[0xfb, 3, 1, 2, 3], 60, "three frames"],
	] as const) {
		it(`is read: ${what}`, () => assert.equal(packetDuration(Uint8Array.from(bytes)), duration));
	}

	for (const [bytes, what] of [
		[[], "no bytes"],
		[[0xfb, 0], "no frames"],
		[[0xfb], "a missing number of frames"],
		[[0xfb, 7], "more than 120 ms"],
		[[0x1b, 3], "three frames of 60 ms"],
	] as const) {
		it(`is rejected: ${what}`, () => assert.throws(() => packetDuration(Uint8Array.from(bytes)), /no packet of Opus/));
	}
});
