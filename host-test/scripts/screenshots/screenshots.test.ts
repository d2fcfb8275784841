import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { makePng } from "../../../scripts/fonts/bm-font.js";
import { readRows } from "../../../scripts/fonts/read-bm-font.js";
import { drawTexts } from "../../../scripts/screenshots/text-sheet.js";
import { drawFaceOf } from "../../../virtual-device/src/services/drawn-screen.js";

const IMAGES = fileURLToPath(new URL("../../../docs/images/", import.meta.url));

const SCREEN = { width: 320, height: 240, brightness: 100, theme: "light" } as const;

describe("pictures of the screen", () => {
	it("in docs/images are what the firmware draws: npm run screenshots", () => {
		const { width, height, pixels } = drawTexts();
		const drawn = readRows(makePng(width, height, pixels));
		const kept = readRows(readFileSync(`${IMAGES}text.png`));
		assert.equal(kept.width, drawn.width);
		assert.ok(kept.rows.equals(drawn.rows), "docs/images/text.png differs");
	});

	it("show a box for each character that the build's set of glyphs lacks", () => {
		const pixelsOf = (message: string, glyphs: "latin" | "cjk"): Buffer =>
			drawFaceOf({ ...SCREEN, message }, glyphs).pixels;
		assert.ok(pixelsOf("天气 25°", "latin").equals(pixelsOf("□□ 25°", "latin")));
		assert.ok(!pixelsOf("天气 25°", "cjk").equals(pixelsOf("□□ 25°", "cjk")));
		assert.ok(pixelsOf("Grüße, ёжик", "latin").equals(pixelsOf("Grüße, ёжик", "cjk")));
	});

	it("show a code three times as large as text, and what happens in a set-up", () => {
		const blank = drawFaceOf(SCREEN).pixels;
		const setup = {
			ssid: "xs-mcp-56789a",
			password: "abcdefgh",
			url: "http://192.168.4.1/",
			progress: "Joining home …",
		};
		for (const face of [{ code: "123456" }, { setup }, { alert: { status: "警告", message: "电池电量低" } }]) {
			assert.ok(!drawFaceOf({ ...SCREEN, ...face }).pixels.equals(blank), JSON.stringify(face));
		}
	});
});
