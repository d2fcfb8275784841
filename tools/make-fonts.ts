import { brotliCompressSync, crc32, deflateSync } from "node:zlib";
import {
	CHARS,
	COMMON,
	GLYPH_BYTES,
	GLYPH_SETS,
	type Glyph,
	type GlyphSet,
	HEAD_BYTES,
} from "xs-mcp-virtual-device/bm-font";
import type { PixelFont } from "./pixel-font.js";

type Range = readonly [first: number, last: number];

/** Latin with the diacritics of Europe, Greek, Cyrillic, and the signs that texts in these have. Ranges of code points, in hex. */
const LATIN = `
	20-7e a0-ac ae-17f 18f 218-21b 259 384-38a 38c 38e-3a1 3a3-3ce 400-45f 490-491 1e9e 2010-2016
	2018-201e 2020-2022 2026 2030 2032-2033 2039-203a 20ac 20bd 2103 2116 2122 2190-2193 2212 221e 2248
	2260 2264-2265 25a1 2713
`;

/** The diacritics of Vietnam, for which a board with 4 MB has no room. */
const VIETNAMESE = "1a0-1a1 1af-1b0 1ea0-1ef9";

/** Kana of half width, and signs that Japanese texts have besides JIS X 0208. */
const JAPANESE = "2460-2473 301c 3094 ff61-ff9f";

/** Kana that GB 2312 lacks. */
const CHINESE = "30fb-30fc";

/** Other ideographs of `basic`, which servers of the family do not send. */
const BASIC =
	"你備关务効務卡发听启响問啟報备寻將尋已应开录後応态態應扫找挿换掃插換敗无时時查检検機檢测浏測満满滿瀏热無狀现現电發確稍級終組絡統続網線级组络统网聆聽見覽览訊訪設試話認誤說読請设访试话误说请資败资載载込进连連達錯错閉開間關闭问電靜響飛飞";

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
		addTo(all, inRanges(VIETNAMESE), [...BASIC]);
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

function inRanges(ranges: string): string[] {
	return ranges
		.trim()
		.split(/\s+/)
		.flatMap((range) => {
			const [first = 0, last = first] = range.split("-").map((code) => Number.parseInt(code, 16));
			return Array.from({ length: last - first + 1 }, (_, at) => String.fromCodePoint(first + at));
		});
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

/** Code points of the characters that the gateway has glyphs of: Latin to CJK compatibility, ideographs, hangul, full and half width. */
const RANGES = [
	[0xa0, 0x33ff],
	[0x4e00, 0x9fff],
	[0xac00, 0xd7a3],
	[0xfe30, 0xfe6b],
	[0xff01, 0xffee],
] as const;

/** Pixels of a glyph's height, and of its width at most. */
const SIZE = 16;

/** Pixels of a line above a glyph. */
const LEADING = 1;

/** The bit of a glyph that is 16 pixels wide. The lower bits are its sets in {@link GLYPH_SETS}. */
const IS_WIDE = 0x80;

/**
 * Makes the file of glyphs that the gateway sends to devices whose font lacks them (`packages/gateway/src/devices/glyph-file.ts` reads
 * it): after the number of glyphs as 32 bits their code points (16 bits each), then a byte each for the sets that have it and
 * its width, then 16 rows each (16 bits, the leftmost pixel first). Little-endian, but for the rows; compressed by Brotli.
 */
export function makeSentGlyphs(font: PixelFont): Buffer {
	const sets = GLYPH_SETS.map((set) => new Set(charactersOf(set)));
	const glyphs = RANGES.flatMap(([first, last]) =>
		Array.from({ length: last - first + 1 }, (_, at) => glyphOf(font, String.fromCodePoint(first + at))),
	).filter((glyph) => glyph !== undefined);
	const count = Buffer.alloc(4);
	count.writeUInt32LE(glyphs.length);
	const codes = Buffer.alloc(2 * glyphs.length);
	for (const [at, { character }] of glyphs.entries()) {
		codes.writeUInt16LE(character.charCodeAt(0), 2 * at);
	}
	const flags = glyphs.map(
		({ character, advance }) =>
			(advance === SIZE ? IS_WIDE : 0) | sets.reduce((bits, set, at) => bits | (set.has(character) ? 1 << at : 0), 0),
	);
	return brotliCompressSync(Buffer.concat([count, codes, Buffer.from(flags), ...glyphs.map(rowsOf)]));
}

/** Undefined if the font lacks it, or if it does not fit: a mark on another letter. */
function glyphOf(font: PixelFont, character: string): Glyph | undefined {
	const glyph = font.findGlyph(character);
	if (glyph === undefined || (glyph.advance !== SIZE && glyph.advance !== SIZE / 2)) {
		return undefined;
	}
	const { left, top, rows, advance } = glyph;
	const fits = left >= 0 && left + (rows[0]?.length ?? 0) <= advance;
	return fits && (rows.length === 0 || (top >= LEADING && top + rows.length <= LEADING + SIZE)) ? glyph : undefined;
}

function rowsOf({ left, top, rows }: Glyph): Buffer {
	const bytes = Buffer.alloc(2 * SIZE);
	for (const [row, columns] of rows.entries()) {
		const bits = columns.reduce((sum, isSet, column) => sum | (isSet ? 0x8000 >> (left + column) : 0), 0);
		bytes.writeUInt16BE(bits, 2 * (top - LEADING + row));
	}
	return bytes;
}

/** Font for the SDK's tools: BMFont's binary description (version 3), and a picture whose opaque pixels are the glyphs. */
export interface BmFont {
	readonly fnt: Uint8Array;
	readonly png: Uint8Array;
}

/** Cells in a row of the picture. */
const COLUMNS = 64;

const INFO = 1;
const PAGES = 3;

/**
 * Makes a font of some glyphs.
 *
 * @param glyphs in the order of their code points, at most as wide and high as a line
 */
export function makeBmFont({ ascent, height }: Pick<PixelFont, "ascent" | "height">, glyphs: readonly Glyph[]): BmFont {
	const picture = { width: COLUMNS * height, height: Math.ceil(glyphs.length / COLUMNS) * height };
	const common = new Uint8Array(15);
	const view = new DataView(common.buffer);
	for (const [at, value] of [height, ascent, picture.width, picture.height, 1].entries()) {
		view.setUint16(2 * at, value, true);
	}
	const fnt = Buffer.concat([
		Buffer.from("BMF\x03", "latin1"),
		block(INFO, new Uint8Array(15)),
		block(COMMON, common),
		block(PAGES, Buffer.from("glyphs.png\0", "latin1")),
		block(CHARS, Buffer.concat(glyphs.map((glyph, at) => describe(glyph, placeOf(at, height))))),
	]);
	return { fnt, png: makePng(picture.width, picture.height, draw(glyphs, picture, height)) };
}

function block(type: number, bytes: Uint8Array): Buffer {
	const head = Buffer.alloc(HEAD_BYTES);
	head.writeUInt8(type, 0);
	head.writeUInt32LE(bytes.length, 1);
	return Buffer.concat([head, bytes]);
}

interface Place {
	readonly x: number;
	readonly y: number;
}

function placeOf(at: number, cell: number): Place {
	return { x: (at % COLUMNS) * cell, y: Math.floor(at / COLUMNS) * cell };
}

function describe({ character, advance, left, top, rows }: Glyph, { x, y }: Place): Buffer {
	const bytes = Buffer.alloc(GLYPH_BYTES);
	bytes.writeUInt32LE(character.codePointAt(0) ?? 0, 0);
	for (const [index, value] of [x, y, rows[0]?.length ?? 0, rows.length, left, top, advance].entries()) {
		bytes.writeInt16LE(value, 4 + 2 * index);
	}
	return bytes;
}

/** Draws black glyphs as gray and alpha: alpha is 255 in glyphs and 0 elsewhere. */
function draw(glyphs: readonly Glyph[], { width, height }: { width: number; height: number }, cell: number): Buffer {
	const pixels = Buffer.alloc(width * height * 2);
	for (const [at, { rows }] of glyphs.entries()) {
		const { x, y } = placeOf(at, cell);
		for (const [row, columns] of rows.entries()) {
			for (const [column, isSet] of columns.entries()) {
				pixels[((y + row) * width + x + column) * 2 + 1] = isSet ? 0xff : 0;
			}
		}
	}
	return pixels;
}

/** PNG's colour type of gray and alpha. */
const GRAY_AND_ALPHA = 4;

/** Makes a PNG file. @param pixels two bytes each: gray and alpha */
function makePng(width: number, height: number, pixels: Buffer): Buffer {
	const header = Buffer.alloc(13);
	header.writeUInt32BE(width, 0);
	header.writeUInt32BE(height, 4);
	header.set([8, GRAY_AND_ALPHA, 0, 0, 0], 8);
	const stride = 2 * width;
	const lines = Array.from({ length: height }, (_, row) =>
		Buffer.concat([Buffer.of(0), pixels.subarray(row * stride, (row + 1) * stride)]),
	);
	return Buffer.concat([
		Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
		chunk("IHDR", header),
		chunk("IDAT", deflateSync(Buffer.concat(lines), { level: 9 })),
		chunk("IEND", Buffer.alloc(0)),
	]);
}

function chunk(type: string, bytes: Buffer): Buffer {
	const length = Buffer.alloc(4);
	length.writeUInt32BE(bytes.length);
	const body = Buffer.concat([Buffer.from(type, "latin1"), bytes]);
	const check = Buffer.alloc(4);
	check.writeUInt32BE(crc32(body));
	return Buffer.concat([length, body, check]);
}
