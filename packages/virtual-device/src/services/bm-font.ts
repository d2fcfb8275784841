import { readFileSync } from "node:fs";
import { inflateSync } from "node:zlib";
import { ROOT } from "xs-mcp/root";

/** The sets of glyphs that a build may have, the largest first: the setting `glyphs`. Each has those of `latin`. */
export const GLYPH_SETS = ["cjk", "zh-hans", "ja", "latin"] as const;

export type GlyphSet = (typeof GLYPH_SETS)[number];

/** A glyph: its pixels, and where they stand. */
export interface Glyph {
	readonly character: string;
	/** Pixels that the pen moves. */
	readonly advance: number;
	/** Pixels from the pen, and from the top of the line. */
	readonly left: number;
	readonly top: number;
	/** Rows of pixels from the top, all of the same width. Empty for an invisible glyph. */
	readonly rows: readonly (readonly boolean[])[];
}

/** A font of the firmware. */
export interface ReadFont {
	/** Pixels from line to line. */
	readonly height: number;
	readonly glyphs: ReadonlyMap<string, Glyph>;
}

/** Folder of the fonts that `node tools/run.mjs tools/fonts-cli.ts` writes and the face's manifest names. */
export const FONTS = `${ROOT}src/screen/fonts/`;

/** Bytes before a block's content, and of a glyph's description. */
export const HEAD_BYTES = 5;
export const GLYPH_BYTES = 20;

/** BMFont's blocks: https://www.angelcode.com/products/bmfont/doc/file_format.html */
export const COMMON = 2;
export const CHARS = 4;

/** Reads a font of the firmware, for a canvas without the SDK. @param name such as "glyphs-cjk" */
export function readBmFont(name: string): ReadFont {
	const path = `${FONTS}${name}`;
	const fnt = readFileSync(`${path}.fnt`);
	const { width, isSet } = readPixels(readFileSync(`${path}.png`));
	const glyphs = new Map<string, Glyph>();
	const chars = blockOf(fnt, CHARS);
	for (let at = 0; at < chars.length; at += GLYPH_BYTES) {
		const character = String.fromCodePoint(chars.readUInt32LE(at));
		const [x = 0, y = 0, columns = 0, rows = 0, left = 0, top = 0, advance = 0] = Array.from(
			{ length: 7 },
			(_, index) => chars.readInt16LE(at + 4 + 2 * index),
		);
		const lines = Array.from({ length: rows }, (_, row) =>
			Array.from({ length: columns }, (_unused, column) => isSet((y + row) * width + x + column)),
		);
		glyphs.set(character, { character, advance, left, top, rows: lines });
	}
	return { height: blockOf(fnt, COMMON).readUInt16LE(0), glyphs };
}

function blockOf(fnt: Buffer, wanted: number): Buffer {
	let at = 4;
	while (fnt[at] !== wanted) {
		at += HEAD_BYTES + fnt.readUInt32LE(at + 1);
	}
	return fnt.subarray(at + HEAD_BYTES, at + HEAD_BYTES + fnt.readUInt32LE(at + 1));
}

/** Decodes an 8-bit PNG of grey and alpha without row filters, as tools/make-fonts.ts writes it. */
function readPixels(png: Buffer): { readonly width: number; readonly isSet: (pixel: number) => boolean } {
	const start = png.indexOf("IDAT");
	const rows = inflateSync(png.subarray(start + 4, start + 4 + png.readUInt32BE(start - 4)));
	const width = png.readUInt32BE(16);
	const stride = 1 + 2 * width;
	return {
		width,
		isSet: (pixel) => rows[Math.floor(pixel / width) * stride + 2 + 2 * (pixel % width)] === 0xff,
	};
}
