/** The sets of glyphs that a build may have, the largest first: the setting `glyphs`. Each has those of `latin`. */
export const GLYPH_SETS = ["cjk", "zh-hans", "ja", "latin"] as const;

export type GlyphSet = (typeof GLYPH_SETS)[number];

type Range = readonly [first: number, last: number];

/** Latin with the diacritics of Europe, Greek, Cyrillic, and the signs that texts in these have. */
const LATIN: readonly Range[] = [
	[0x20, 0x7e],
	[0xa0, 0xac],
	[0xae, 0x17f],
	[0x18f, 0x18f],
	[0x218, 0x21b],
	[0x259, 0x259],
	[0x384, 0x38a],
	[0x38c, 0x38c],
	[0x38e, 0x3a1],
	[0x3a3, 0x3ce],
	[0x400, 0x45f],
	[0x490, 0x491],
	[0x1e9e, 0x1e9e],
	[0x2010, 0x2016],
	[0x2018, 0x201e],
	[0x2020, 0x2022],
	[0x2026, 0x2026],
	[0x2030, 0x2030],
	[0x2032, 0x2033],
	[0x2039, 0x203a],
	[0x20ac, 0x20ac],
	[0x20bd, 0x20bd],
	[0x2103, 0x2103],
	[0x2116, 0x2116],
	[0x2122, 0x2122],
	[0x2190, 0x2193],
	[0x2212, 0x2212],
	[0x221e, 0x221e],
	[0x2248, 0x2248],
	[0x2260, 0x2260],
	[0x2264, 0x2265],
	[0x25a1, 0x25a1],
	[0x2713, 0x2713],
];

/** The diacritics of Vietnam, for which a board with 4 MB has no room. */
const VIETNAMESE: readonly Range[] = [
	[0x1a0, 0x1a1],
	[0x1af, 0x1b0],
	[0x1ea0, 0x1ef9],
];

/** Kana of half width, and signs that Japanese texts have besides JIS X 0208. */
const JAPANESE: readonly Range[] = [
	[0x2460, 0x2473],
	[0x301c, 0x301c],
	[0x3094, 0x3094],
	[0xff61, 0xff9f],
];

/** Kana that GB 2312 lacks. */
const CHINESE: readonly Range[] = [[0x30fb, 0x30fc]];

/** Frequent characters of assistants from the second level of GB 2312. */
const SPOKEN_CHINESE = "嗯嗨嘿哎呗哒咯喵嘻呃诶嗷嘞喔噢嘟咚叮瞅";

/** Rows of JIS X 0208: signs, kana, letters, lines; the kanji of level 1. Those of GB 2312: signs; the hanzi of level 1. */
const JIS_ROWS: readonly Range[] = [
	[1, 8],
	[16, 47],
];
const GB_ROWS: readonly Range[] = [
	[1, 9],
	[16, 55],
];

/** The characters of a set, in the order of their code points. */
export function charactersOf(set: GlyphSet): readonly string[] {
	const all = new Set(inRanges(LATIN));
	if (set !== "latin") {
		addTo(all, inRanges(VIETNAMESE));
	}
	if (set === "ja" || set === "cjk") {
		addTo(all, inRanges(JAPANESE), inRows("euc-jp", JIS_ROWS));
	}
	if (set === "zh-hans" || set === "cjk") {
		addTo(all, inRanges(CHINESE), [...SPOKEN_CHINESE], inRows("gb2312", GB_ROWS));
	}
	return [...all].sort((one, other) => (one.codePointAt(0) ?? 0) - (other.codePointAt(0) ?? 0));
}

function addTo(all: Set<string>, ...lists: readonly (readonly string[])[]): void {
	for (const character of lists.flat()) {
		all.add(character);
	}
}

function inRanges(ranges: readonly Range[]): string[] {
	return ranges.flatMap(([first, last]) =>
		Array.from({ length: last - first + 1 }, (_, at) => String.fromCodePoint(first + at)),
	);
}

/** The characters in rows of a set of 94 × 94, by its encoding for Unix: a byte for the row, a byte for the cell. */
function inRows(encoding: string, rows: readonly Range[]): string[] {
	const decoder = new TextDecoder(encoding);
	const characters: string[] = [];
	for (const [first, last] of rows) {
		for (let row = first; row <= last; row += 1) {
			for (let cell = 1; cell <= 94; cell += 1) {
				const text = decoder.decode(Uint8Array.of(0xa0 + row, 0xa0 + cell));
				if (isOne(text)) {
					characters.push(text);
				}
			}
		}
	}
	return characters;
}

/** Characters of GB 18030-2022, which Node decodes from version 22 on. A set is the same with every version. */
const ADDED = /[\ufe10-\ufe19ḿǹ]/;

/** Whether a cell had a character: neither nothing, nor one for private use. */
function isOne(text: string): boolean {
	const code = text.codePointAt(0) ?? 0;
	return text.length === 1 && code !== 0xfffd && !(code >= 0xe000 && code <= 0xf8ff) && !ADDED.test(text);
}
