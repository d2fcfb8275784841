import { toBase64 } from "../../src/core/text/base64.js";
import { utf8Length } from "../../src/core/text/utf8.js";
import { FakeBoard } from "../doubles/fake-board.js";
import { FakeCanvas, makeFace } from "../doubles/fake-canvas.js";
import { inSession, startOn } from "../doubles/started-application.js";
import { equal, given, ok, suite } from "../harness.js";

const MAX_SENT_GLYPHS = 128;

const DISPLAY_LIST = 5_120;

class LatinCanvas extends FakeCanvas {
	override getTextWidth(text: string): number {
		return super.getTextWidth(text.replace(/[^\x20-\x7e□]/g, ""));
	}
}

function latinFace(width?: number) {
	const { screen, draw } = makeFace({ font: { height: 18 }, charset: "latin" }, new LatinCanvas(width));
	draw();
	return { screen, draw, texts: () => draw().texts.map(({ text }) => text) };
}

/** A bitmap as servers have it: the bits of all rows one after the other. */
function bitmap(width: number, height: number, isSet: (column: number) => boolean = () => true): string {
	const bytes = new Uint8Array(Math.ceil((width * height) / 8));
	for (let bit = 0; bit < width * height; bit += 1) {
		const place = bit >> 3;
		bytes[place] = (bytes[place] ?? 0) | (isSet(bit % width) ? 0x80 >> (bit & 7) : 0);
	}
	return toBase64(bytes.buffer);
}

const WIDE = { adv_w: 224, box_w: 13, box_h: 12, ofs_x: 1, ofs_y: -1, bitmap: bitmap(13, 12) };

/** A glyph of the family's font at 14 pixels. */
const glyph = (character: string, form: object = WIDE) => ({ codepoint: character.codePointAt(0), ...form });

const push = (...glyphs: unknown[]) => ({ v: 1, bundle: "noto-v1", size: 14, bpp: 1, glyphs });

const hanzi = (count: number) => Array.from({ length: count }, (_, at) => String.fromCharCode(0x4e00 + at));

export default suite("glyphs that a backend sends", {
	"are drawn among the characters of the font, by their metrics": given(latinFace, ({ screen, draw }) => {
		const narrow = {
			adv_w: 128,
			box_w: 5,
			box_h: 3,
			ofs_x: -1,
			ofs_y: 0,
			bitmap: bitmap(5, 3, (column) => column !== 2),
		};
		screen.glyphs?.take(push(glyph("你"), glyph("ß", narrow), glyph("𠮷", { ...WIDE, adv_w: 231 })));
		screen.show({ message: "a你ß𠮷b" });
		const { texts, rectangles } = draw();
		equal(
			texts.map(({ text, x }) => [text, x]),
			[
				["a", 6],
				["b", 52],
			],
		);
		const y = texts[0]?.y ?? 0;
		for (const [x, width, first, end] of [
			[17, 13, 4, 16],
			[30, 2, 12, 15],
			[33, 2, 12, 15],
			[39, 13, 4, 16],
		] as const) {
			equal(
				rectangles.filter((each) => each.x === x && each.width === width).map((each) => each.y - y),
				Array.from({ length: end - first }, (_, row) => first + row),
			);
		}
	}),
	"of the gateway's font fill the line": given(latinFace, ({ screen, draw }) => {
		const form = { adv_w: 256, box_w: 16, box_h: 16, ofs_x: 0, ofs_y: -2, bitmap: bitmap(16, 16) };
		screen.glyphs?.take({ ...push(glyph("你", form)), bundle: "unifontex-v1", size: 16 });
		screen.show({ message: "a你" });
		const { texts, rectangles } = draw();
		const rows = rectangles.filter(({ x, width }) => x === 16 && width === 16).map(({ y }) => y - (texts[0]?.y ?? 0));
		equal(
			rows,
			Array.from({ length: 16 }, (_, row) => row + 1),
		);
	}),
	"take the place of boxes if they come late": given(latinFace, ({ screen, texts }) => {
		screen.show({ message: "a你好" });
		equal(texts(), ["a□□"]);
		screen.glyphs?.take(push(glyph("你")));
		equal(texts(), ["a", "□"]);
	}),
	"fit the canvas's list of commands, whatever their pixels are"() {
		for (const [width, advance] of [
			[2, 16],
			[3, 16],
			[7, 32],
			[16, 224],
		] as const) {
			const { screen, draw } = latinFace(410);
			const isSet = (column: number) => column % 2 === 0;
			const stripes = {
				adv_w: advance,
				box_w: width,
				box_h: 16,
				ofs_x: 0,
				ofs_y: -2,
				bitmap: bitmap(width, 16, isSet),
			};
			screen.glyphs?.take(push(glyph("疆", stripes)));
			screen.show({ message: "疆".repeat(300), alert: { status: "", message: "疆".repeat(150) } });
			const { mostBytes } = draw();
			ok(mostBytes > 3_000 && mostBytes <= DISPLAY_LIST, `${mostBytes} bytes`);
		}
	},
	"are kept until there are too many: the oldest leaves": given(latinFace, ({ screen, texts }) => {
		const characters = hanzi(MAX_SENT_GLYPHS);
		for (const first of [0, 64]) {
			screen.glyphs?.take(push(...characters.slice(first, first + 64).map((each) => glyph(each))));
		}
		screen.show({ message: `(${characters[0]}${characters[1]})` });
		equal(texts(), ["(", ")"]);
		screen.glyphs?.take(push(glyph(characters[1] as string), glyph("a"), glyph("龍")));
		equal(texts(), ["(□", ")"]);
	}),
	"of another font or of another form are ignored"() {
		const forms = [
			{ bitmap: "AAAA" },
			{ bitmap: "?" },
			{ bitmap: 5 },
			{ adv_w: 16, box_w: 1, box_h: 8, ofs_x: 0, bitmap: "/w==" },
			{ adv_w: 16 * 17 },
			{ adv_w: 0.5 },
			{ box_w: 17 },
			{ box_w: 65_536 },
			{ box_w: -13 },
			{ box_w: 6.5, box_h: 24 },
			{ box_h: 17 },
			{ box_h: -12 },
			{ box_h: "12" },
			{ ofs_x: 4 },
			{ ofs_x: 1e9 },
			{ ofs_x: null },
			{ ofs_y: 3 },
			{ ofs_y: -3 },
			{ ofs_y: -1e9 },
			{ codepoint: "你" },
			{ codepoint: 7 },
			{ codepoint: 0x11_0000 },
			{ codepoint: 0x4f60 + 2 ** 32 },
		];
		for (const wrong of [
			undefined,
			"你",
			[],
			{ ...push(glyph("你")), v: 2 },
			{ ...push(glyph("你")), bundle: "puhui" },
			{ ...push(glyph("你")), bpp: 4 },
			{ ...push(), glyphs: {} },
			push(...Array.from({ length: 65 }, () => glyph("你"))),
			push(null, 5, [], { codepoint: 0x4f60 }),
			...forms.map((form) => push({ ...glyph("你"), ...form })),
		]) {
			const { screen, texts } = latinFace();
			screen.glyphs?.take(wrong);
			screen.show({ message: "a你" });
			equal(texts(), ["a□"], JSON.stringify(wrong));
		}
	},
	"are wanted by the hello of a screen that can show them, and come in the messages of the family's servers"() {
		const { screen, texts } = latinFace();
		const board = Object.assign(new FakeBoard(), { screen });
		const { transport } = inSession(board);
		const hello = JSON.parse(transport.channel.sent[0] as string);
		const font = { bundle: "noto-v1", charset: "basic", size: 14, bpp: 1, set: "latin" };
		equal([hello.features, hello.text_font], [{ mcp: true, glyph_push: true }, font]);
		const all = hanzi(64);
		const said = { type: "tts", state: "sentence_start", text: `(${all.join("")})`, session_id: "s-1" };
		transport.channel.say({ ...said, glyph_push: push(...all.map((each) => glyph(each))) });
		equal(texts(), ["(", ")"]);
		transport.channel.say({ type: "stt", text: "a龍𠮷", glyph_push: push(glyph("𠮷")) });
		equal(texts(), ["a□"]);
		transport.channel.say({ type: "glyph_push", glyph_push: push(glyph("龍")) });
		equal(texts(), ["a"]);
	},
	"are dropped alone if they make a message too long, as servers write it: its text is shown"() {
		const { screen, texts } = latinFace();
		const { greet, log } = startOn({
			board: Object.assign(new FakeBoard(), { screen }),
			built: { chunkBytes: 65_536 },
		});
		const socket = greet();
		const all = hanzi(64).join("");
		const said = { type: "tts", state: "sentence_start", text: `Hi, ${all}`, session_id: "s-1" };
		const json = JSON.stringify({ ...said, glyph_push: push(...[...all].map((each) => glyph(each))) });
		// That of Python has spaces, and escapes what is not ASCII.
		const python = json
			.replace(/(?<=[^\\]"|\d|[\]}])([:,])(?=["{[\d-])/g, "$1 ")
			.replace(/[一-丿]/g, (each) => `\\u${each.charCodeAt(0).toString(16)}`);
		for (const text of [python, JSON.stringify(JSON.parse(json), null, 1)]) {
			socket.arrive([text]);
			equal(texts().join(""), `Hi, ${"□".repeat(64)}`);
			equal(log.at(-1), `glyphs dropped: ${utf8Length(text)} bytes (limit 8192)`);
		}
	},
});
