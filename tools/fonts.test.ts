import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { GLYPH_SETS, type GlyphSet, type ReadFont, readBmFont } from "xs-mcp-virtual-device/bm-font";
import { charactersOf } from "./make-fonts.js";

const EXAMPLES: Readonly<Record<string, readonly GlyphSet[]>> = {
	"今天天气很好，最高25°C。嗯，记得带伞！": ["zh-hans", "cjk"],
	"今日は良い天気です。「カーテン」を開けますか？〜": ["ja", "cjk"],
	"Grüße aus München: „schön“, 25 °C – 3 €.": ["latin", "ja", "zh-hans", "cjk"],
	"Сегодня солнечно, ёжик. Подъём!": ["latin", "ja", "zh-hans", "cjk"],
	"Καλημέρα κόσμε! Dzień dobry, čeština, ığdır.": ["latin", "ja", "zh-hans", "cjk"],
	"Việt Nam": ["ja", "zh-hans", "cjk"],
	"請說：「设置」": ["ja", "zh-hans", "cjk"],
};

describe("fonts", () => {
	let fonts: ReadonlyMap<GlyphSet, ReadFont>;

	before(() => {
		fonts = new Map(GLYPH_SETS.map((set) => [set, readBmFont(`glyphs-${set}`)]));
	});

	const fontOf = (set: GlyphSet): ReadFont => fonts.get(set) as ReadFont;

	it("have all the characters of their sets, in order, and none is invisible but spaces", () => {
		for (const set of GLYPH_SETS) {
			const { glyphs, height } = fontOf(set);
			assert.deepEqual([...glyphs.keys()], charactersOf(set));
			for (const { character, advance, rows, top } of glyphs.values()) {
				assert.ok(advance > 0 && top >= 0 && top + rows.length <= height, `${set}: ${character}`);
				assert.ok(rows.some((row) => row.includes(true)) || /^\s$/u.test(character), `${set}: ${character} is empty`);
			}
		}
	});

	it("have the kanji of JIS level 1, the hanzi of GB 2312 level 1, and kana", () => {
		const han = (set: GlyphSet): number =>
			charactersOf(set).filter((character) => /\p{Script=Han}/u.test(character)).length;
		assert.ok(han("ja") >= 2_965 && han("zh-hans") >= 3_755 && han("cjk") > han("zh-hans") && han("latin") === 0);
		for (const set of ["ja", "zh-hans", "cjk"] as const) {
			assert.ok(
				["あ", "ン", "ー", "。", "「"].every((character) => fontOf(set).glyphs.has(character)),
				set,
			);
		}
	});

	it("show real sentences", () => {
		for (const [sentence, sets] of Object.entries(EXAMPLES)) {
			for (const set of sets) {
				assert.deepEqual(
					[...sentence].filter((character) => !fontOf(set).glyphs.has(character)),
					[],
					`${set}: ${sentence}`,
				);
			}
		}
	});
});
