// npm run fonts: makes the fonts that mcconfig needs. npm run flash and npm run simulator do it by themselves.
import { makeProgram, runProgram } from "../program.js";
import { makeFonts } from "./make-fonts.js";

await runProgram(
	makeProgram("run fonts", "Makes the screen's fonts, for builds by mcconfig alone.").action(() => {
		console.log(makeFonts());
	}),
);
