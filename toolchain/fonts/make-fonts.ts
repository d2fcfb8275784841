import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeBmFont } from "./bm-font.js";
import { charactersOf, charactersOfCodes, GLYPH_SETS } from "./glyph-sets.js";
import { enlarged, openPixelFont, type PixelFont } from "./pixel-font.js";
import { FONTS } from "./read-bm-font.js";

/** How much larger a code is than other text. */
const CODE_SCALE = 3;

/** Writes the fonts of all sets of glyphs and of codes, `glyphs-SET` and `codes`, each as `.fnt` and `.png`. */
export function makeFonts(): void {
	const font = openPixelFont();
	for (const set of GLYPH_SETS) {
		writeFont(`glyphs-${set}`, font, charactersOf(set));
	}
	writeFont("codes", enlarged(font, CODE_SCALE), charactersOfCodes());
}

function writeFont(name: string, font: PixelFont, characters: readonly string[]): void {
	const { fnt, png } = makeBmFont(font, characters.map(font.glyphOf));
	writeFileSync(join(FONTS, `${name}.fnt`), fnt);
	writeFileSync(join(FONTS, `${name}.png`), png);
}
