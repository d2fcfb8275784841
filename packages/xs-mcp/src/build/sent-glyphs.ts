import { join } from "node:path";
import { brotliCompressSync } from "node:zlib";
import { ROOT } from "../../../root.js";
import { charactersOf, GLYPH_SETS } from "./glyph-sets.js";
import type { Glyph, PixelFont } from "./pixel-font.js";

/** The file that {@link makeSentGlyphs} makes. */
export const GLYPHS_OF_GATEWAY = join(ROOT, "packages/gateway/glyphs.bin");

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

/** The bit of a glyph that is 16 pixels wide; bits below it stand for the sets of {@link GLYPH_SETS}. */
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
