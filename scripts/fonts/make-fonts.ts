import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { makeBmFont } from "./bm-font.js";
import { charactersOf, GLYPH_SETS } from "./glyph-sets.js";
import { openPixelFont } from "./pixel-font.js";

/** Where the manifest of the face takes the fonts from. */
export const FONTS = fileURLToPath(new URL("../../.cache/fonts/", import.meta.url));

const SOURCES = fileURLToPath(new URL(".", import.meta.url));

/**
 * Makes the fonts of all sets of glyphs for the SDK's tools, `glyphs-SET.fnt` and `.png`, unless these sources have made them already.
 *
 * @returns the folder
 */
export function makeFonts(): string {
	const stamp = join(FONTS, "made-by");
	const version = hashOfSources();
	if (existsSync(stamp) && readFileSync(stamp, "utf8") === version) {
		return FONTS;
	}
	mkdirSync(FONTS, { recursive: true });
	const font = openPixelFont();
	for (const set of GLYPH_SETS) {
		const { fnt, png } = makeBmFont(font, charactersOf(set).map(font.glyphOf));
		writeWhole(join(FONTS, `glyphs-${set}.fnt`), fnt);
		writeWhole(join(FONTS, `glyphs-${set}.png`), png);
	}
	writeWhole(stamp, version);
	return FONTS;
}

/** Another build may read the file meanwhile. */
function writeWhole(path: string, content: string | Uint8Array): void {
	const part = `${path}.${process.pid}`;
	writeFileSync(part, content);
	renameSync(part, path);
}

function hashOfSources(): string {
	const hash = createHash("sha256");
	for (const name of readdirSync(SOURCES).sort()) {
		hash.update(readFileSync(join(SOURCES, name)));
	}
	return hash.digest("hex");
}
