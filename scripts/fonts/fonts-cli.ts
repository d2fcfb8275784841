// npm run fonts: makes what mcconfig needs, fonts and the list of modules to preload. npm run flash and npm run simulator do it by themselves.
import { writeFileSync } from "node:fs";
import { makeFonts } from "../../toolchain/fonts/make-fonts.js";
import { openPixelFont } from "../../toolchain/fonts/pixel-font.js";
import { GLYPHS_OF_GATEWAY, makeSentGlyphs } from "../../toolchain/fonts/sent-glyphs.js";
import { makeProgram, runProgram } from "../../toolchain/program.js";
import { listPreloads } from "../moddable/preload.js";

await runProgram(
	makeProgram("run fonts", "Makes the screen's fonts and the list of modules to preload, for builds by mcconfig alone.")
		.option("--gateway", "make the gateway's file of glyphs instead, after a change of the sets")
		.action(({ gateway }: { gateway?: true }) => {
			if (gateway) {
				writeFileSync(GLYPHS_OF_GATEWAY, makeSentGlyphs(openPixelFont()));
			}
			listPreloads();
			console.log(gateway ? GLYPHS_OF_GATEWAY : makeFonts());
		}),
);
