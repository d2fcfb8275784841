import assert from "node:assert/strict";
import { it } from "node:test";
import { LANGUAGES } from "xs-mcp-firmware/features/language";
import { drawFaceOf } from "../src/services/drawn-screen.js";

const SCREEN = {
	width: 320,
	height: 240,
	brightness: 100,
	theme: "light",
	state: "idle",
	words: LANGUAGES.en,
} as const;

it("shows a box for each character that the build's set of glyphs lacks", () => {
	const pixelsOf = (message: string, glyphs: "latin" | "cjk"): Buffer =>
		drawFaceOf({ ...SCREEN, message }, glyphs).pixels;
	assert.ok(pixelsOf("天气 25°", "latin").equals(pixelsOf("□□ 25°", "latin")));
	assert.ok(!pixelsOf("天气 25°", "cjk").equals(pixelsOf("□□ 25°", "cjk")));
	assert.ok(pixelsOf("Grüße, ёжик", "latin").equals(pixelsOf("Grüße, ёжик", "cjk")));
});
