import { readFileSync } from "node:fs";
import { join } from "node:path";
import { deflateSync, inflateSync } from "node:zlib";
import { ROOT } from "../../../root.js";
import { crc32 } from "./crc32.js";
import type { Glyph, PixelFont } from "./pixel-font.js";

/** Font for the SDK's tools: BMFont's binary description (version 3), and a picture whose opaque pixels are the glyphs. */
export interface BmFont {
	readonly fnt: Uint8Array;
	readonly png: Uint8Array;
}

/** A font that {@link makeBmFont} made. */
export interface ReadFont {
	/** Pixels from line to line. */
	readonly height: number;
	readonly glyphs: ReadonlyMap<string, Glyph>;
}

/** Folder of the fonts that `node tools/run.mjs tools/fonts-cli.ts` writes and the face's manifest names. */
export const FONTS = join(ROOT, "src/screen/fonts/");

/** Cells in a row of the picture. */
const COLUMNS = 64;

/** Bytes before a block's content, and of a glyph's description. */
const HEAD_BYTES = 5;
const GLYPH_BYTES = 20;

/** BMFont's blocks: https://www.angelcode.com/products/bmfont/doc/file_format.html */
const INFO = 1;
const COMMON = 2;
const PAGES = 3;
const CHARS = 4;

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

/** Reads a PNG made by makePng: each row begins with a filter byte of 0. */
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
