import assert from "node:assert/strict";
import { it } from "node:test";
import { FaceScreen } from "xs-mcp-firmware/screen/face-screen";
import { glyphsFor } from "xs-mcp-gateway/glyph-file";
import { fontOf, PixelCanvas } from "xs-mcp-virtual-device/drawn-screen";
import { FakeTimer } from "../../../host-test/doubles/fake-timer.js";

const TEXT = "今天天气很好，最高25度。Grüße! 明日は晴れ、気温は２５℃です。";

function draw(charset: string, [width, height]: readonly [number, number]): PixelCanvas {
	const canvas = new PixelCanvas(width, height);
	const timer = new FakeTimer();
	const screen = new FaceScreen({ canvas, font: fontOf(`glyphs-${charset}`), charset, timer });
	for (const { glyph_push } of glyphsFor(screen.glyphs?.font)?.(TEXT) ?? []) {
		screen.glyphs?.take(glyph_push);
	}
	screen.show({ state: "idle", online: true, message: TEXT });
	timer.pass(40);
	return canvas;
}

it("a board with 4 MB shows Chinese and Japanese from the gateway as the boards that have the glyphs", () => {
	for (const size of [
		[135, 240],
		[320, 240],
	] as const) {
		assert.ok(draw("latin", size).pixels.equals(draw("cjk", size).pixels), `${size[0]} x ${size[1]}`);
	}
});
