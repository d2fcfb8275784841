import assert from "node:assert/strict";
import { it } from "node:test";
import jpeg from "jpeg-js";
import { readWhole } from "../../src/hardware/pictures.js";
import { EncodedJpeg } from "../../src/pictures/jpeg/encoded-jpeg.js";

/** Red grows to the right, green downwards; blue in squares. */
function pixelAt(x: number, y: number, width: number, height: number): number {
	const blue = ((x >> 4) ^ (y >> 4)) & 1 ? 28 : 4;
	return (Math.floor((x * 31) / width) << 11) | (Math.floor((y * 63) / height) << 5) | blue;
}

for (const [width, height, quality, mostError] of [
	[320, 240, 75, 2],
	[33, 17, 95, 5],
	[1, 1, 50, 3],
	[160, 120, 10, 8],
] as const) {
	it(`another decoder sees what was encoded: ${width} x ${height} pixels, quality ${quality}`, async () => {
		const read = (y: number, rows: number): Uint16Array =>
			Uint16Array.from({ length: width * rows }, (_, at) =>
				pixelAt(at % width, y + Math.floor(at / width), width, height),
			);
		const file = await readWhole(new EncodedJpeg({ width, height, read }, quality), 1_000_000);
		const decoded = jpeg.decode(Buffer.from(file));
		assert.deepEqual([decoded.width, decoded.height], [width, height]);
		let error = 0;
		for (let at = 0; at < width * height; at += 1) {
			const pixel = pixelAt(at % width, Math.floor(at / width), width, height);
			const expected = [(pixel >> 8) & 0xf8, (pixel >> 3) & 0xfc, (pixel << 3) & 0xf8];
			for (const [channel, value] of expected.entries()) {
				error += Math.abs((decoded.data[at * 4 + channel] as number) - value);
			}
		}
		const mean = error / (width * height * 3);
		assert.ok(mean < mostError, `the mean error is ${mean} of 255`);
	});
}
