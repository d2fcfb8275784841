import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { makeBmFont } from "./bm-font.js";
import { charactersOf, charactersOfCodes, GLYPH_SETS } from "./glyph-sets.js";
import { enlarged, openPixelFont, type PixelFont } from "./pixel-font.js";

/** Where the manifest of the face takes the fonts from. */
const FONTS = fileURLToPath(new URL("../../.cache/fonts/", import.meta.url));

/** How much larger a code is than other text. */
const CODE_SCALE = 3;

const SOURCES = fileURLToPath(new URL(".", import.meta.url));

/**
 * Makes the fonts of all sets of glyphs and of codes for the SDK's tools, `glyphs-SET` and `codes` with `.fnt` and `.png`, unless these sources have made them already.
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
		writeFont(`glyphs-${set}`, font, charactersOf(set));
	}
	writeFont("codes", enlarged(font, CODE_SCALE), charactersOfCodes());
	writeWhole(stamp, version);
	return FONTS;
}

function writeFont(name: string, font: PixelFont, characters: readonly string[]): void {
	const { fnt, png } = makeBmFont(font, characters.map(font.glyphOf));
	writeWhole(join(FONTS, `${name}.fnt`), fnt);
	writeWhole(join(FONTS, `${name}.png`), png);
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
