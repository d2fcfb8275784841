// npm run fonts: writes the fonts in src/pictures/face/fonts again, after a change of the sets of glyphs.
import { writeFileSync } from "node:fs";
import { makeFonts } from "../../toolchain/fonts/make-fonts.js";
import { openPixelFont } from "../../toolchain/fonts/pixel-font.js";
import { FONTS } from "../../toolchain/fonts/read-bm-font.js";
import { GLYPHS_OF_GATEWAY, makeSentGlyphs } from "../../toolchain/fonts/sent-glyphs.js";
import { makeProgram, runProgram } from "../../toolchain/program.js";

await runProgram(
	makeProgram(
		"run fonts",
		"Writes the fonts of the screen and the gateway's glyphs, after a change of the sets.",
	).action(() => {
		makeFonts();
		writeFileSync(GLYPHS_OF_GATEWAY, makeSentGlyphs(openPixelFont()));
		console.log(`${FONTS}\n${GLYPHS_OF_GATEWAY}`);
	}),
);
