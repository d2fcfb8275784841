import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { SentGlyphs } from "xs-mcp-firmware/screen/sent-glyphs";
import { readBmFont } from "xs-mcp-virtual-device/bm-font";
import { DeviceConnection, readHello } from "../src/devices/device-connection.js";

const MAX_SENT_GLYPHS = 128;

const FONT = SentGlyphs.fontOf("latin");

const glyphsFor = (font: unknown, features: object = { mcp: true, glyph_push: true }) =>
	readHello({ type: "hello", features, text_font: font }).glyphsFor;

function sentWith(text: string, charset = "latin"): string {
	const sent = new SentGlyphs();
	const messages = glyphsFor(SentGlyphs.fontOf(charset))?.(text) ?? [];
	for (const { glyph_push } of messages) {
		assert.ok(JSON.stringify(glyph_push).length < 3_000);
		sent.take(glyph_push);
	}
	return [...new Set(text)].filter((character) => sent.widthOf(character) > 0).join("");
}

describe("glyphs for a device whose screen lacks them", () => {
	it("are those of a text that its font does not have, and that it takes", () => {
		assert.equal(sentWith("Grüße, Привет, 你好，こんにちは 한"), "你好，こんにちは한");
		assert.equal(sentWith("Grüße, 你好，こんにちは 한", "zh-hans"), "한");
		assert.equal(sentWith("你好，こんにちは 한", "cjk"), "한");
		assert.equal(sentWith("plain"), "");
	});

	it("are all of the largest set, as many as a device keeps", () => {
		const latin = readBmFont("glyphs-latin").glyphs;
		const characters = [...readBmFont("glyphs-cjk").glyphs.keys()].filter((character) => !latin.has(character));
		for (let first = 0; first < characters.length; first += MAX_SENT_GLYPHS) {
			const text = characters.slice(first, first + MAX_SENT_GLYPHS).join("");
			assert.equal(sentWith(text), text);
		}
		assert.equal(sentWith(characters.join("")).length, MAX_SENT_GLYPHS);
	});

	it("come before the message with the text, whatever it is", async () => {
		const hello = readHello({ type: "hello", features: { mcp: true, glyph_push: true }, text_font: FONT });
		const types: string[] = [];
		const link = { write: (text: string) => void types.push(JSON.parse(text).type), disconnect() {} };
		const connection = new DeviceConnection({ id: "lamp", clientId: "", transport: "websocket" }, hello, link);
		connection.send({ type: "alert", message: "注意" });
		const params = { name: "x", arguments: { text: "你" } };
		for (const request of [{ method: "tools/call", params }, { method: "ping" }]) {
			connection.forward(request).catch(() => {});
		}
		connection.close();
		assert.deepEqual(types, ["glyph_push", "alert", "glyph_push", "mcp", "mcp"]);
	});

	it("are not sent to another font, to an unknown set, or to a device that does not take them", () => {
		for (const other of [undefined, { ...FONT, bundle: "noto-v1" }, { ...FONT, size: 20 }, { ...FONT, charset: "?" }]) {
			assert.equal(glyphsFor(other), undefined);
		}
		assert.equal(glyphsFor(FONT, { mcp: true }), undefined);
	});
});
