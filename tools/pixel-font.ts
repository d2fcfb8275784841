import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import opentype from "opentype.js";
import type { Glyph } from "xs-mcp-virtual-device/bm-font";

/** A font whose outlines follow pixels. */
export interface PixelFont {
	/** Pixels from the top of a line to its base line, and to the top of the next line. */
	readonly ascent: number;
	readonly height: number;
	/** @returns undefined if the font has no such glyph */
	findGlyph(character: string): Glyph | undefined;
}

/** UnifontEX (SIL Open Font License 1.1): GNU Unifont's glyphs of 8 × 16 and 16 × 16 pixels, drawn for that size. */
const FONT_FILE = "@fontsource/unifontex/files/unifontex-latin-400-normal.woff";

/** Units of the outline to a pixel. */
const UNITS = 64;

/** Pixels of a line above and below the 16 of the glyphs. */
const LEADING = 1;

/** Reads the font from the package that has it: seconds, because it has 65,000 glyphs. */
export function openPixelFont(): PixelFont {
	const { buffer, byteOffset, byteLength } = readFileSync(createRequire(import.meta.url).resolve(FONT_FILE));
	const font = opentype.parse(buffer.slice(byteOffset, byteOffset + byteLength));
	const ascent = font.ascender / UNITS + LEADING;
	const findGlyph = (character: string): Glyph | undefined => {
		const glyph = font.charToGlyph(character);
		const advance = Math.round((glyph.advanceWidth ?? 0) / UNITS);
		return glyph.index === 0 ? undefined : { character, advance, ...scan(edgesOf(glyph.path), ascent) };
	};
	return {
		ascent,
		height: (font.ascender - font.descender) / UNITS + 2 * LEADING,
		findGlyph,
	};
}

/** A font whose pixels are squares of so many. */
export function enlarged({ ascent, height, findGlyph }: PixelFont, scale: number): PixelFont {
	const repeat = <T>(items: readonly T[]): T[] => items.flatMap((item) => Array.from({ length: scale }, () => item));
	const findEnlarged = (character: string): Glyph | undefined => {
		const glyph = findGlyph(character);
		return (
			glyph && {
				character,
				advance: glyph.advance * scale,
				left: glyph.left * scale,
				top: glyph.top * scale,
				rows: repeat(glyph.rows.map((row) => repeat(row))),
			}
		);
	};
	return { ascent: ascent * scale, height: height * scale, findGlyph: findEnlarged };
}

/** An edge that goes up or down, in pixels. */
interface Edge {
	readonly x: number;
	readonly from: number;
	readonly to: number;
}

/** The edges of an outline that are upright: the others lie between rows. */
function edgesOf({ commands }: opentype.Path): Edge[] {
	const edges: Edge[] = [];
	let start = { x: 0, y: 0 };
	let at = start;
	for (const command of commands) {
		const to = command.type === "Z" ? start : { x: command.x, y: command.y };
		if (command.type === "M") {
			start = to;
		} else if (to.x === at.x && to.y !== at.y) {
			edges.push({ x: to.x / UNITS, from: at.y / UNITS, to: to.y / UNITS });
		}
		at = to;
	}
	return edges;
}

/** The pixels inside an outline: those that more edges go around one way than the other. */
function scan(edges: readonly Edge[], ascent: number): Pick<Glyph, "left" | "top" | "rows"> {
	if (edges.length === 0) {
		return { left: 0, top: 0, rows: [] };
	}
	const columns = edges.map(({ x }) => x);
	const heights = edges.flatMap(({ from, to }) => [from, to]);
	const [left, right] = [Math.min(...columns), Math.max(...columns)];
	const [bottom, top] = [Math.min(...heights), Math.max(...heights)];
	/** Winding of the edges to the left of each pixel, by row and column. */
	const turns = Array.from({ length: top - bottom }, () => new Int8Array(right - left));
	for (const { x, from, to } of edges) {
		for (const row of turns.slice(top - Math.max(from, to), top - Math.min(from, to))) {
			row[x - left] = (row[x - left] ?? 0) + (to > from ? 1 : -1);
		}
	}
	const rows = turns.map((row) => {
		let sum = 0;
		return Array.from(row, (turn) => {
			sum += turn;
			return sum !== 0;
		});
	});
	return { left, top: ascent - top, rows };
}
