import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { deflateSync } from "node:zlib";
import jpeg from "jpeg-js";
import { makePng } from "../../../host-test/doubles/made-png.js";
import { measurePicture } from "../../src/services/pictures.js";

const JPEG = jpeg.encode({ width: 24, height: 16, data: Buffer.alloc(24 * 16 * 4, 99) }, 80).data;

/** The picture with other bytes from the first place of these on. */
function withBytes(picture: Buffer, at: readonly number[], bytes: readonly number[]): Buffer {
	const changed = Buffer.from(picture);
	changed.set(bytes, changed.indexOf(Uint8Array.from(at)));
	return changed;
}

describe("a picture for the simulated screen", () => {
	it("is shown if it is a baseline JPEG, also without the marker at its end", () => {
		assert.deepEqual([measurePicture(JPEG).width, measurePicture(JPEG).height], [24, 16]);
		assert.equal(measurePicture(JPEG.subarray(0, -2)).width, 24);
	});

	it("is rejected as boards reject it if they cannot decode it", () => {
		for (const [picture, reason] of [
			[withBytes(JPEG, [0xff, 0xc0], [0xff, 0xc2]), "progressive JPEG is not supported, expected baseline"],
			[withBytes(JPEG, [0xff, 0xc4], [0xff, 0xfe]), "JPEG damaged or truncated"],
			[JPEG.subarray(0, 100), "JPEG truncated within its header"],
			[Buffer.from("GIF89a"), "the file is neither a JPEG nor a PNG"],
			[Buffer.alloc(0), "the file is empty"],
		] as const) {
			assert.throws(() => measurePicture(picture), new Error(reason));
		}
	});

	it("is rejected if it is an interlaced or truncated PNG", () => {
		const pixels = { width: 2, height: 2, rows: [0, 1].map((row) => [row, 20, 30, 40, 50, 60]) };
		const file = makePng(pixels, deflateSync);
		assert.deepEqual(measurePicture(file), { width: 2, height: 2 });
		const interlaced = makePng({ ...pixels, interlaced: true }, deflateSync);
		assert.throws(() => measurePicture(interlaced), new Error("interlaced PNG is not supported"));
		assert.throws(() => measurePicture(file.subarray(0, -30)), new Error("PNG damaged or truncated"));
	});
});
