// node tools/run.mjs tools/fonts-cli.ts: writes the fonts in src/screen/fonts again, after a change of the sets of glyphs.
import { writeFileSync } from "node:fs";
import { makeProgram, runProgram } from "xs-mcp/build/program";
import { ROOT } from "xs-mcp/root";
import { FONTS, GLYPH_SETS } from "xs-mcp-virtual-device/bm-font";
import { charactersOf, makeBmFont, makeSentGlyphs } from "./make-fonts.js";
import { enlarged, openPixelFont, type PixelFont } from "./pixel-font.js";

/** The glyphs that the gateway sends. */
const GLYPHS = `${ROOT}packages/gateway/glyphs.bin`;

/** Factor by which a code is larger than other text. */
const CODE_SCALE = 3;

/** Characters of a code that a person types in: digits, with every backend of the family. */
const CODE_CHARACTERS = [..."0123456789"];

await runProgram(
	makeProgram(
		"node tools/run.mjs tools/fonts-cli.ts",
		"Writes the fonts of the screen and the gateway's glyphs, after a change of the sets.",
	).action(() => {
		const font = openPixelFont();
		for (const set of GLYPH_SETS) {
			writeFont(`glyphs-${set}`, font, charactersOf(set));
		}
		writeFont("codes", enlarged(font, CODE_SCALE), CODE_CHARACTERS);
		writeFileSync(GLYPHS, makeSentGlyphs(font));
		console.log(`${FONTS}\n${GLYPHS}`);
	}),
);

function writeFont(name: string, font: PixelFont, characters: readonly string[]): void {
	const glyphs = characters.map((character) => {
		const glyph = font.findGlyph(character);
		if (glyph === undefined) {
			throw new Error(`the font has no glyph for ${character}`);
		}
		return glyph;
	});
	const { fnt, png } = makeBmFont(font, glyphs);
	writeFileSync(`${FONTS}${name}.fnt`, fnt);
	writeFileSync(`${FONTS}${name}.png`, png);
}
