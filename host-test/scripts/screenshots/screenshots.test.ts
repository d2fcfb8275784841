import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { SHEETS } from "../../../scripts/screenshots/sheets.js";
import { ENGLISH } from "../../../src/language/en.js";
import { readPng } from "../../../toolchain/fonts/bm-font.js";
import { drawFaceOf } from "../../../virtual-device/src/services/drawn-screen.js";
import type { PixelCanvas } from "../../../virtual-device/src/services/pixel-canvas.js";

const IMAGES = fileURLToPath(new URL("../../../docs/images/", import.meta.url));

const SCREEN = { width: 320, height: 240, brightness: 100, theme: "light", state: "idle", words: ENGLISH } as const;

/** How far a byte of a pixel may be from the kept picture's: edges are computed, and rounding may differ. */
const TOLERANCE = 8;

/** The pixels that differ from a PNG file of `npm run screenshots`. */
function differences({ width, height, pixels }: PixelCanvas, png: Buffer): number {
	const kept = readPng(png);
	assert.deepEqual([kept.width, kept.rows.length], [width, height * (4 * width + 1)], "another size");
	let different = 0;
	for (let pixel = 0; pixel < width * height; pixel += 1) {
		const at = Math.floor(pixel / width) * (4 * width + 1) + 1 + 4 * (pixel % width);
		const isFar = [0, 1, 2].some(
			(byte) => Math.abs((kept.rows[at + byte] ?? 0) - (pixels[4 * pixel + byte] ?? 0)) > TOLERANCE,
		);
		different += isFar ? 1 : 0;
	}
	return different;
}

describe("pictures of the screen", () => {
	for (const [name, draw] of Object.entries(SHEETS)) {
		it(`in docs/images/${name}.png are what the firmware draws: npm run screenshots`, () => {
			assert.equal(differences(draw(), readFileSync(`${IMAGES}${name}.png`)), 0);
		});
	}

	it("show a box for each character that the build's set of glyphs lacks", () => {
		const pixelsOf = (message: string, glyphs: "latin" | "cjk"): Buffer =>
			drawFaceOf({ ...SCREEN, message }, glyphs).pixels;
		assert.ok(pixelsOf("天气 25°", "latin").equals(pixelsOf("□□ 25°", "latin")));
		assert.ok(!pixelsOf("天气 25°", "cjk").equals(pixelsOf("□□ 25°", "cjk")));
		assert.ok(pixelsOf("Grüße, ёжик", "latin").equals(pixelsOf("Grüße, ёжик", "cjk")));
	});
});
