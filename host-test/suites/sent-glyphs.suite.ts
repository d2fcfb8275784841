import { FakeBoard } from "../doubles/fake-board.js";
import { FakeCanvas, makeFace } from "../doubles/fake-canvas.js";
import { inSession } from "../doubles/started-application.js";
import { equal, given, ok, suite } from "../harness.js";

const MAX_SENT_GLYPHS = 128;

const DISPLAY_LIST = 5_120;

class LatinCanvas extends FakeCanvas {
	override getTextWidth(text: string): number {
		return super.getTextWidth(text.replace(/[^\x20-\x7e□]/g, ""));
	}
}

function latinFace() {
	const { screen, draw } = makeFace({ font: { height: 18 }, charset: "latin" }, new LatinCanvas());
	draw();
	return { screen, draw, texts: () => draw().texts.map(({ text }) => text) };
}

/** 16 rows that are all alike, of 16 pixels each, or of 8. */
const SOLID = `${"/".repeat(42)}8=`;
const STRIPES = `${"qqqq".repeat(10)}qqo=`;
const NARROW = `${"/".repeat(21)}w==`;

const glyph = (character: string, bitmap = SOLID) => ({
	codepoint: character.codePointAt(0),
	adv_w: 256,
	box_w: bitmap === NARROW ? 8 : 16,
	box_h: 16,
	ofs_x: 0,
	ofs_y: -2,
	bitmap,
});

const push = (...glyphs: unknown[]) => ({ v: 1, bundle: "unifontex-v1", size: 16, bpp: 1, glyphs });

export default suite("glyphs that a backend sends", {
	"are drawn among the characters of the font": given(latinFace, ({ screen, draw }) => {
		screen.glyphs?.take(push(glyph("你"), glyph("ß", NARROW)));
		screen.show({ message: "a你ßb" });
		const { texts, rectangles } = draw();
		const drawn = texts.map(({ text, x }) => [text, x]);
		equal(drawn, [
			["a", 6],
			["b", 40],
		]);
		const y = texts[0]?.y ?? 0;
		const rows = (x: number, width: number) => rectangles.filter((each) => each.x === x && each.width === width);
		for (const [x, width] of [
			[16, 16],
			[32, 8],
		] as const) {
			equal(
				rows(x, width).map((each) => each.y - y),
				Array.from({ length: 16 }, (_, row) => row + 1),
			);
		}
	}),
	"take the place of boxes if they come late": given(latinFace, ({ screen, texts }) => {
		screen.show({ message: "a你好" });
		equal(texts(), ["a□□"]);
		screen.glyphs?.take(push(glyph("你")));
		equal(texts(), ["a", "□"]);
	}),
	"fit the canvas's list of commands, whatever their pixels are": given(latinFace, ({ screen, draw }) => {
		screen.glyphs?.take(push(glyph("疆", STRIPES)));
		screen.show({ message: "疆".repeat(200), alert: { status: "", message: "疆".repeat(30) } });
		const { mostBytes } = draw();
		ok(mostBytes > 4_000 && mostBytes <= DISPLAY_LIST, `${mostBytes} bytes`);
	}),
	"are kept until there are too many: the oldest leaves": given(latinFace, ({ screen, texts }) => {
		const characters = Array.from({ length: MAX_SENT_GLYPHS }, (_, at) => String.fromCharCode(0x4e00 + at));
		screen.glyphs?.take(push(...characters.map((each) => glyph(each))));
		screen.show({ message: `(${characters[0]}${characters[1]})` });
		equal(texts(), ["(", ")"]);
		screen.glyphs?.take(push(glyph(characters[1] as string), glyph("你")));
		equal(texts(), ["(□", ")"]);
	}),
	"of another font or of another form are ignored"() {
		for (const wrong of [
			undefined,
			"你",
			[],
			{ ...push(glyph("你")), v: 2 },
			{ ...push(glyph("你")), bundle: "noto-v1" },
			{ ...push(), glyphs: {} },
			push(null, 5, { codepoint: 0x4f60 }, { ...glyph("你"), codepoint: "你" }, { ...glyph("你"), bitmap: "AAAA" }),
			push({ ...glyph("你"), codepoint: 7 }, { ...glyph("你"), codepoint: 0x2_0bb7 }, { ...glyph("你"), box_w: 64 }),
		]) {
			const { screen, texts } = latinFace();
			screen.glyphs?.take(wrong);
			screen.show({ message: "a你𠮷" });
			equal(texts(), ["a□□"]);
		}
	},
	"are wanted by the hello of a screen that can show them, and come with any message"() {
		const taken: unknown[] = [];
		const font = { bundle: "unifontex-v1", charset: "latin", size: 16, bpp: 1 };
		const board = new FakeBoard();
		Object.assign(board.screen, { glyphs: { font, take: (each: unknown) => taken.push(each) } });
		const { transport } = inSession(board);
		const hello = JSON.parse(transport.channel.sent[0] as string);
		equal([hello.features, hello.text_font], [{ mcp: true, glyph_push: true }, font]);
		transport.channel.say({ type: "tts", state: "sentence_start", text: "你", glyph_push: push(glyph("你")) });
		transport.channel.say({ type: "glyph_push", glyph_push: push() });
		equal(taken.length, 2);
		equal(board.shown.at(-1), { message: "你" });
	},
});
