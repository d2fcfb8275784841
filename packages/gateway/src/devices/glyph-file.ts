import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { brotliDecompressSync } from "node:zlib";
import { isObject } from "xs-mcp-firmware/core/text/json";

/** The file beside the gateway's bundle, or in its sources. */
const PLACES = ["./glyphs.bin", "../../glyphs.bin"].map((path) => fileURLToPath(new URL(path, import.meta.url)));

/** The font whose glyphs the file has. */
const FONT = { bundle: "unifontex-v1", size: 16, bpp: 1 };

/** Glyph sets that a font may have built in, by the bits of a glyph's flags: `GLYPH_SETS` of the firmware's build. */
const CHARSETS = ["cjk", "zh-hans", "ja", "latin"];

/** The flag of a glyph that is 16 pixels wide. */
const IS_WIDE = 0x80;

/** Bytes of a glyph in the file: 16 rows of 16 pixels. */
const GLYPH_BYTES = 32;

/** Glyphs that a device keeps (`MAX_SENT_GLYPHS` of the firmware), and that one message has: about 2 KB. */
const MAX_GLYPHS = 128;
const GLYPHS_PER_MESSAGE = 16;

/** A message with glyphs: the family's `glyph_push`, version 1, in a message of its own. */
type GlyphMessage = { readonly type: "glyph_push"; readonly glyph_push: object };

/** Makes the messages with the glyphs that a device needs for a text, the first 128 of it. */
export type GlyphsFor = (text: string) => readonly GlyphMessage[];

let contents: ReturnType<typeof readGlyphs> | undefined;

/**
 * Finds the glyphs for a device of this project. The file, 1.2 MB, is read for the first device that needs it.
 *
 * @param font `text_font` of the device's hello
 * @returns undefined if that names no glyph set of this project, as `set`, or as `charset` with firmware up to 0.1
 */
export function glyphsFor(font: unknown): GlyphsFor | undefined {
	const { bundle, size, bpp, charset, set } = isObject(font) ? font : {};
	const isOurs = bundle === FONT.bundle && size === FONT.size && bpp === FONT.bpp;
	const bit = CHARSETS.indexOf((set ?? (isOurs && charset)) as string);
	const path = PLACES.find((place) => existsSync(place));
	if (bit < 0 || path === undefined) {
		return undefined;
	}
	return (text) => {
		const characters = new Set(text.match(/[\u00a0-\uffff]/g));
		if (characters.size === 0) {
			return [];
		}
		contents ??= readGlyphs(brotliDecompressSync(readFileSync(path)));
		return contents(characters, 1 << bit);
	};
}

/**
 * Reads the glyphs of `node tools/run.mjs tools/fonts-cli.ts`: see `tools/make-fonts.ts`.
 *
 * @returns a function that makes the messages with glyphs of characters that a font does not have built in
 */
function readGlyphs(file: Buffer): (characters: ReadonlySet<string>, builtIn: number) => readonly GlyphMessage[] {
	const count = file.readUInt32LE(0);
	/** Index in `flags`, by code point. */
	const places = new Map<number, number>();
	for (let at = 0; at < count; at += 1) {
		places.set(file.readUInt16LE(4 + 2 * at), at);
	}
	const flags = file.subarray(4 + 2 * count, 4 + 3 * count);
	const rows = file.subarray(4 + 3 * count);
	const makeGlyph = (character: string, place: number, isWide: boolean): object => {
		const cell = rows.subarray(place * GLYPH_BYTES, (place + 1) * GLYPH_BYTES);
		const bitmap = isWide ? cell : cell.filter((_byte, at) => at % 2 === 0);
		const width = isWide ? 16 : 8;
		return {
			codepoint: character.charCodeAt(0),
			adv_w: 16 * width,
			box_w: width,
			box_h: 16,
			ofs_x: 0,
			ofs_y: -2,
			bitmap: Buffer.from(bitmap).toString("base64"),
		};
	};
	return (characters, builtIn) => {
		const found = [...characters].flatMap((character) => {
			const place = places.get(character.charCodeAt(0));
			const own = (place !== undefined && flags[place]) || 0;
			return place === undefined || (own & builtIn) !== 0 ? [] : [makeGlyph(character, place, (own & IS_WIDE) !== 0)];
		});
		const messages: GlyphMessage[] = [];
		for (let first = 0; first < Math.min(found.length, MAX_GLYPHS); first += GLYPHS_PER_MESSAGE) {
			const glyphs = found.slice(first, Math.min(first + GLYPHS_PER_MESSAGE, MAX_GLYPHS));
			messages.push({ type: "glyph_push", glyph_push: { v: 1, ...FONT, glyphs } });
		}
		return messages;
	};
}
