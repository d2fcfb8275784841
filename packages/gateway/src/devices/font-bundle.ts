import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isObject } from "xs-mcp-firmware/core/text/json";
import * as z from "zod";
import { ConfigurationError } from "../plugin.js";

/** Limits of a message's glyphs in the family. */
const MAX_GLYPHS = 64;
const MAX_BITMAP_BYTES = 65_536;

/** Kinds of a table of code points in a CBIN font: LVGL's FORMAT0_FULL and SPARSE_TINY. In others, code points are consecutive. */
const WITH_OFFSETS = 0;
const SPARSE = 3;

/** Bytes of such a table, and of a glyph's metrics. */
const TABLE_BYTES = 20;
const METRICS_BYTES = 16;

const manifestSchema = z.object({
	bundle_id: z.string(),
	charsets: z.record(z.string(), z.object({ codepoints: z.array(z.int()) }).nullable()),
	shards: z.array(
		z.object({ ranges: z.array(z.tuple([z.int(), z.int()])), profiles: z.record(z.string(), z.string()) }),
	),
});

type CbinFont = ReturnType<typeof readCbin>;

/** Makes the `glyph_push` for a text; undefined if the device needs none. */
export type GlyphPushFor = (text: string) => object | undefined;

/** Finds the glyphs for a device's font: `text_font` of its hello. Returns undefined if the bundle has none of them. */
export type FontBundle = (font: unknown) => GlyphPushFor | undefined;

/**
 * Opens a full font bundle of the family. Its fonts are read when a text needs them.
 *
 * @param folder with the bundle's `manifest.json`
 * @param onProblem called once for each font that cannot be read
 * @throws ConfigurationError if the manifest cannot be used
 */
export function openFontBundle(folder: string, onProblem: (problem: string) => void): FontBundle {
	const { bundle_id: bundle, charsets, shards } = readManifest(folder);
	const builtIn = new Map(Object.entries(charsets).map(([name, set]) => [name, set && new Set(set.codepoints)]));
	const fonts = new Map<string, CbinFont | undefined>();
	const findIn = (path: string, bpp: number, codepoint: number) => {
		try {
			if (!fonts.has(path)) {
				fonts.set(path, readCbin(readFileSync(join(folder, path)), bpp));
			}
			return fonts.get(path)?.(codepoint);
		} catch (error) {
			fonts.set(path, undefined);
			onProblem(`fontFolder: ${path}: ${(error as Error).message}`);
			return undefined;
		}
	};
	return (font) => {
		const { bundle: wanted, charset, size, bpp } = isObject(font) ? font : {};
		const known = builtIn.get(charset as string);
		if (wanted !== bundle || !known || typeof size !== "number" || (bpp !== 1 && bpp !== 4)) {
			return undefined;
		}
		const findGlyph = (codepoint: number) => {
			const shard = shards.find(({ ranges }) =>
				ranges.some(([first, last]) => codepoint >= first && codepoint <= last),
			);
			const path = shard?.profiles[`${size}_${bpp}`];
			return path === undefined ? undefined : findIn(path, bpp, codepoint);
		};
		return (text) => {
			const glyphs: object[] = [];
			let bytes = 0;
			for (const character of new Set(text)) {
				const codepoint = character.codePointAt(0) ?? 0;
				const glyph = codepoint < 0x20 || known.has(codepoint) ? undefined : findGlyph(codepoint);
				bytes += glyph?.bitmap.length ?? 0;
				if (glyph !== undefined && bytes <= MAX_BITMAP_BYTES && glyphs.length < MAX_GLYPHS) {
					glyphs.push({ ...glyph, bitmap: glyph.bitmap.toString("base64") });
				}
			}
			return glyphs.length === 0 ? undefined : { v: 1, bundle, size, bpp, glyphs };
		};
	};
}

function readManifest(folder: string): z.infer<typeof manifestSchema> {
	try {
		return manifestSchema.parse(JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8")));
	} catch (error) {
		const problem = error instanceof z.ZodError ? z.prettifyError(error) : (error as Error).message;
		throw new ConfigurationError([`fontFolder: manifest.json of ${folder}: ${problem}`], { cause: error });
	}
}

/**
 * Reads a font in CBIN, the form of `lv_font_t` in memory.
 *
 * @returns a function that finds the glyph of a code point, and throws Error if that is damaged
 * @throws Error if the file is truncated, or its bitmaps have another form than messages
 */
function readCbin(file: Buffer, bpp: number) {
	const start = file.readUInt32LE(24);
	const [bitmaps = 0, metrics = 0, tables = 0] = [0, 4, 8].map((at) => start + file.readUInt32LE(start + at));
	const form = file.readUInt16LE(start + 18);
	if (((form >> 9) & 0xf) !== bpp || form >> 14 !== 0 || file[start + 20] !== 0) {
		throw new Error(`expected plain bitmaps of ${bpp} bits a pixel`);
	}
	/** Numbers of the glyphs, by code point. */
	const numbers = new Map<number, number>();
	for (let at = tables; at < tables + (form & 0x1ff) * TABLE_BYTES; at += TABLE_BYTES) {
		const [first, number, kind] = [file.readUInt32LE(at), file.readUInt16LE(at + 6), file.readUInt8(at + 18)];
		const [list, offsets] = [tables + file.readUInt32LE(at + 8), tables + file.readUInt32LE(at + 12)];
		const count = file.readUInt16LE(kind === SPARSE ? at + 16 : at + 4);
		for (let index = 0; index < count; index += 1) {
			const codepoint = first + (kind === SPARSE ? file.readUInt16LE(list + 2 * index) : index);
			const offset = kind === WITH_OFFSETS ? file.readUInt8(offsets + index) : index;
			// Offset 0 after the first code point: no glyph.
			if (offset > 0 || index === 0) {
				numbers.set(codepoint, number + offset);
			}
		}
	}
	return (codepoint: number) => {
		const number = numbers.get(codepoint);
		if (number === undefined) {
			return undefined;
		}
		const at = metrics + number * METRICS_BYTES;
		const [box_w, box_h] = [file.readUInt16LE(at + 8), file.readUInt16LE(at + 10)];
		const first = bitmaps + file.readUInt32LE(at);
		const bitmap = file.subarray(first, first + Math.ceil((box_w * box_h * bpp) / 8));
		if (bitmap.length < (box_w * box_h * bpp) / 8) {
			throw new Error(`bitmap of U+${codepoint.toString(16)} outside the file`);
		}
		return {
			codepoint,
			adv_w: file.readUInt32LE(at + 4),
			box_w,
			box_h,
			ofs_x: file.readInt16LE(at + 12),
			ofs_y: file.readInt16LE(at + 14),
			bitmap,
		};
	};
}
