import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../root.js";
import { readPng } from "./bm-font.js";
import type { Glyph } from "./pixel-font.js";

/** A font that {@link makeBmFont} made. */
export interface ReadFont {
	/** Pixels from line to line. */
	readonly height: number;
	readonly glyphs: ReadonlyMap<string, Glyph>;
}

/** Folder of the fonts that `npm run fonts` writes and the face's manifest names. */
export const FONTS = join(ROOT, "src/pictures/face/fonts/");

/** Bytes before a block's content, and of a glyph's description. */
const HEAD_BYTES = 5;
const GLYPH_BYTES = 20;

const CHARS = 4;
const COMMON = 2;

/** Reads a font of the firmware, for a canvas without the SDK. @param name such as "glyphs-cjk" */
export function readBmFont(name: string): ReadFont {
	const path = join(FONTS, name);
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

function readPixels(png: Buffer): { readonly width: number; readonly isSet: (pixel: number) => boolean } {
	const { width, rows } = readPng(png);
	const stride = 1 + 2 * width;
	return {
		width,
		isSet: (pixel) => rows[Math.floor(pixel / width) * stride + 2 + 2 * (pixel % width)] === 0xff,
	};
}
