import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { SentGlyphs } from "xs-mcp-firmware/screen/sent-glyphs";
import { readBmFont } from "xs-mcp-virtual-device/bm-font";
import { FakeCanvas } from "../../../host-test/doubles/fake-canvas.js";
import { until } from "../../../host-test/support/testing.js";
import { DeviceConnection, readHello } from "../src/devices/device-connection.js";
import { openFontBundle } from "../src/devices/font-bundle.js";
import { callLamp, connectMqtt, connectWebSocket, familyHello } from "../testing/family.js";
import { startProgram } from "../testing/program.js";

const MAX_SENT_GLYPHS = 128;

const FONT = SentGlyphs.fontOf("latin");

/** The font of C++ firmware on a board with a colour screen. */
const NOTO = { bundle: "noto-v1", charset: "common", size: 20, bpp: 4 };

const ID = "aa:bb:cc:00:00:02";

class CanvasWithoutFont extends FakeCanvas {
	override getTextWidth(): number {
		return 0;
	}
}

const glyphsFor = (font: unknown, features: object = { mcp: true, glyph_push: true }) =>
	readHello({ type: "hello", features, text_font: font }).glyphsFor;

function sentWith(text: string, charset = "latin"): string {
	const sent = new SentGlyphs(new CanvasWithoutFont(), { height: 18 });
	const messages = glyphsFor(SentGlyphs.fontOf(charset))?.(text) ?? [];
	for (const { glyph_push } of messages) {
		assert.ok(JSON.stringify(glyph_push).length < 3_000);
		sent.take(glyph_push);
	}
	return [...new Set(text)].filter((character) => sent.measure(character) > 0).join("");
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
			connection.request(request).catch(() => {});
		}
		connection.close();
		assert.deepEqual(types, ["glyph_push", "alert", "glyph_push", "mcp", "mcp"]);
	});

	it("are not sent to other firmware, to an unknown set, or to a device that does not take them", () => {
		for (const other of [undefined, NOTO, { ...FONT, set: "?" }, { ...FONT, set: { toString: 1 } }]) {
			assert.equal(glyphsFor(other), undefined);
		}
		assert.equal(glyphsFor(FONT, { mcp: true }), undefined);
		const old = { bundle: "unifontex-v1", charset: "latin", size: 16, bpp: 1 };
		assert.ok(glyphsFor(old), "firmware up to 0.1");
		for (const other of [{ bundle: "noto-v1" }, { size: 20 }, { bpp: 4 }]) {
			assert.equal(glyphsFor({ ...old, ...other }), undefined);
		}
	});
});

/** A glyph of a font under test: as wide as high. */
interface Square {
	readonly codepoint: number;
	readonly size: number;
}

/** A table of code points: its kind in LVGL, the first glyph's number, and where its lists are, after the tables. */
interface Table {
	readonly first: number;
	readonly length: number;
	readonly number: number;
	readonly kind: number;
	readonly list?: readonly number[];
	readonly offsets?: readonly number[];
}

/** A font in CBIN, as `lv_font_conv` of the family writes it: the bytes of a glyph's bitmap are its number. */
function makeCbin(bpp: number, squares: readonly Square[], tables: readonly Table[]): Buffer {
	const lists: Buffer[] = [];
	let end = 20 * tables.length;
	const place = (list: Buffer): number => {
		const at = end;
		end += list.length;
		lists.push(list);
		return list.length === 0 ? 0 : at;
	};
	const cmaps = tables.map(({ first, length, number, kind, list = [], offsets = [] }) => {
		const table = Buffer.alloc(20);
		table.writeUInt32LE(first, 0);
		table.writeUInt16LE(length, 4);
		table.writeUInt16LE(number, 6);
		table.writeUInt32LE(place(Buffer.from(Uint16Array.from(list).buffer)), 8);
		table.writeUInt32LE(place(Buffer.from(offsets)), 12);
		table.writeUInt16LE(list.length || offsets.length, 16);
		table.writeUInt8(kind, 18);
		return table;
	});
	const bitmaps: Buffer[] = [];
	const metrics = [Buffer.alloc(16)];
	for (const [at, { size }] of squares.entries()) {
		const glyph = Buffer.alloc(16);
		glyph.writeUInt32LE(Buffer.concat(bitmaps).length, 0);
		glyph.writeUInt32LE(16 * size, 4);
		glyph.writeUInt16LE(size, 8);
		glyph.writeUInt16LE(size, 10);
		glyph.writeInt16LE(1, 12);
		glyph.writeInt16LE(-2, 14);
		metrics.push(glyph);
		bitmaps.push(Buffer.alloc(Math.ceil((size * size * bpp) / 8), at + 1));
	}
	const bits = Buffer.concat(bitmaps);
	const font = Buffer.alloc(36);
	font.writeUInt32LE(36, 24);
	const description = Buffer.alloc(24);
	description.writeUInt32LE(24, 0);
	description.writeUInt32LE(24 + bits.length, 4);
	description.writeUInt32LE(24 + bits.length + 16 * metrics.length, 8);
	description.writeUInt16LE(tables.length | (bpp << 9), 18);
	return Buffer.concat([font, description, bits, ...metrics, ...cmaps, ...lists]);
}

const HAN: readonly Square[] = Array.from({ length: 100 }, (_, at) => ({ codepoint: 0x4e00 + at, size: 20 }));
const RARE: readonly Square[] = [0x9f8d, 0x9f98, 0x9fa5].map((codepoint) => ({ codepoint, size: 19 }));
const LARGE: readonly Square[] = Array.from({ length: 40 }, (_, at) => ({ codepoint: 0x5000 + at, size: 64 }));

/** A folder as `scripts/build.py full` of the family's fonts makes it. */
function makeBundle(t: TestContext): string {
	const folder = mkdtempSync(join(tmpdir(), "xs-mcp-fonts-"));
	t.after(() => rmSync(folder, { recursive: true }));
	const first = 0x4e00;
	const cjk = makeCbin(
		4,
		[...HAN, ...RARE, ...LARGE],
		[
			{ first, length: 100, number: 1, kind: 2 },
			{ first: 0x9f8d, length: 25, number: 101, kind: 3, list: [0, 11, 24] },
			{
				first: 0x5000,
				length: 50,
				number: 104,
				kind: 0,
				offsets: Array.from({ length: 50 }, (_, at) => (at < 40 ? at : 0)),
			},
		],
	);
	const emoji = makeCbin(4, [{ codepoint: 0x2_0bb7, size: 20 }], [{ first: 0x2_0bb7, length: 1, number: 1, kind: 2 }]);
	writeFileSync(join(folder, "cjk.cbin"), cjk);
	writeFileSync(join(folder, "ext.cbin"), emoji);
	writeFileSync(join(folder, "broken.cbin"), cjk.subarray(0, 100));
	const dragon = [{ codepoint: 0x9f8d, size: 20 }];
	writeFileSync(
		join(folder, "no-metrics.cbin"),
		makeCbin(4, dragon, [{ first: 0x9f8d, length: 1, number: 99, kind: 2 }]),
	);
	const short = makeCbin(4, dragon, [{ first: 0x9f8d, length: 1, number: 1, kind: 2 }]);
	short.writeUInt32LE(short.length - 100, 36 + 24 + 200 + 16);
	writeFileSync(join(folder, "short.cbin"), short);
	const manifest = {
		version: 1,
		bundle_id: "noto-v1",
		charsets: { basic: null, common: { charset: "common", codepoints: [0x41, 0x4e01] } },
		shards: [
			{
				id: "sc",
				count: 1,
				ranges: [[0x4e00, 0x9fff]],
				profiles: { "20_4": "cjk.cbin", "16_4": "broken.cbin", "18_4": "no-metrics.cbin", "22_4": "short.cbin" },
			},
			{ id: "ext", count: 1, ranges: [[0x2_0000, 0x2_ffff]], profiles: { "20_4": "ext.cbin", "14_1": "ext.cbin" } },
		],
	};
	writeFileSync(join(folder, "manifest.json"), JSON.stringify(manifest));
	return folder;
}

interface Push {
	readonly glyphs: readonly { readonly codepoint: number; readonly bitmap: string }[];
}

const charactersIn = (push: object | undefined): string =>
	(push as Push | undefined)?.glyphs.map(({ codepoint }) => String.fromCodePoint(codepoint)).join("") ?? "";

describe("glyphs for the C++ firmware", () => {
	for (const transport of ["websocket", "udp"]) {
		it(`are inside what is said, over ${transport}, if its hello names a font of the operator's bundle`, async (t) => {
			const started = await startProgram(t, { fontFolder: makeBundle(t), mqtt: transport === "udp" });
			const { mcp } =
				transport === "udp"
					? await connectMqtt(t, started.gateway.urls.mqtt as string, { clientId: ID })
					: await connectWebSocket(t, started.deviceUrl, { headers: { "device-id": ID } });
			mcp.say({ ...familyHello(transport), features: { mcp: true, glyph_push: true }, text_font: NOTO });
			await callLamp(started, ID);
			const { connection } = started.gateway.servers.find(ID) ?? {};
			connection?.send({ type: "tts", state: "start" });
			connection?.send({ type: "tts", state: "sentence_start", text: "A𠮷龍丁龍\n" });
			connection?.send({ type: "stt", text: "丂" });
			connection?.send({ type: "alert", status: "", message: "龍", emotion: "" });
			await until(() => mcp.first("alert") !== undefined, "the alert has come");
			const said = mcp.received.filter(({ type }) => ["tts", "stt", "alert", "glyph_push"].includes(type));
			const metrics = { ofs_x: 1, ofs_y: -2 };
			const glyph = (codepoint: number, size: number, byte: number) => {
				const bitmap = Buffer.alloc(Math.ceil((size * size) / 2), byte).toString("base64");
				return { codepoint, adv_w: 16 * size, box_w: size, box_h: size, ...metrics, bitmap };
			};
			const font = { v: 1, bundle: "noto-v1", size: 20, bpp: 4 };
			assert.deepEqual(
				said.map(({ type, glyph_push }) => [type, glyph_push]),
				[
					["tts", undefined],
					["tts", { ...font, glyphs: [glyph(0x2_0bb7, 20, 1), glyph(0x9f8d, 19, 101)] }],
					["stt", { ...font, glyphs: [glyph(0x4e02, 20, 3)] }],
					["alert", undefined],
				],
			);
		});
	}

	it("are at most 64, of 64 KiB, and only those that the bundle has", (t) => {
		const push = openFontBundle(makeBundle(t), () => {})(NOTO);
		const all = HAN.map(({ codepoint }) => String.fromCodePoint(codepoint)).join("");
		assert.equal(charactersIn(push?.(all)), `${all[0]}${all.slice(2, 65)}`);
		const large = LARGE.map(({ codepoint }) => String.fromCodePoint(codepoint)).join("");
		assert.equal(charactersIn(push?.(large)), large.slice(0, 32));
		assert.equal(charactersIn(push?.("\u9f8e\u9f98龥\u5028\u5029")), "\u9f98龥");
		assert.equal(push?.("ABC, ひ"), undefined);
	});

	it("are not sent for another font, and a font that cannot be read is reported once", (t) => {
		const problems: string[] = [];
		const bundle = openFontBundle(makeBundle(t), (problem) => problems.push(problem));
		const others = [{ bundle: "noto-v2" }, { charset: "basic" }, { charset: "toString" }, { bpp: 8 }];
		for (const font of [undefined, ...others.map((other) => ({ ...NOTO, ...other }))]) {
			assert.equal(bundle(font), undefined);
		}
		assert.equal(bundle({ ...NOTO, size: 30 })?.("龍"), undefined);
		assert.equal(bundle({ ...NOTO, size: { toString: 1 } })?.("龍"), undefined);
		for (const font of [
			{ ...NOTO, size: 16 },
			{ ...NOTO, size: 14, bpp: 1 },
			{ ...NOTO, size: 18 },
			{ ...NOTO, size: 22 },
		]) {
			assert.equal(bundle(font)?.("龍𠮷"), undefined);
			assert.equal(bundle(font)?.("龍𠮷"), undefined);
		}
		assert.equal(problems.length, 4);
		assert.match(problems[0] ?? "", /^fontFolder: broken\.cbin: .+/);
		assert.equal(problems[1], "fontFolder: ext.cbin: expected plain bitmaps of 1 bits a pixel");
		assert.match(problems[2] ?? "", /^fontFolder: no-metrics\.cbin: .+/);
		assert.equal(problems[3], "fontFolder: short.cbin: bitmap of U+9f8d outside the file");
	});

	it("are left out of a message that would be too large for the device", (t) => {
		const hello = { type: "hello", features: { mcp: true, glyph_push: true }, text_font: NOTO, max_message_bytes: 600 };
		const pushes: unknown[] = [];
		const link = {
			write: (text: string) => void pushes.push(JSON.parse(text).glyph_push?.glyphs.length),
			disconnect() {},
		};
		const read = readHello(
			hello,
			openFontBundle(makeBundle(t), () => {}),
		);
		const connection = new DeviceConnection({ id: ID, clientId: "", transport: "websocket" }, read, link);
		connection.send({ type: "stt", text: "一" });
		connection.send({ type: "stt", text: "一丂七" });
		connection.close();
		assert.deepEqual(pushes, [1, undefined]);
	});

	it("need a manifest that can be used", (t) => {
		const folder = makeBundle(t);
		writeFileSync(join(folder, "manifest.json"), '{"bundle_id":"noto-v1","charsets":{}}');
		assert.throws(
			() => openFontBundle(folder, () => {}),
			/^ConfigurationError: fontFolder: manifest\.json of .+: .*shards/s,
		);
		assert.throws(() => openFontBundle(join(folder, "none"), () => {}), /fontFolder: manifest\.json of .+: ENOENT/);
	});
});
