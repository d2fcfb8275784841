// npm run screenshots: draws the pictures of docs/images that show the device's screen.
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { makePng } from "../fonts/bm-font.js";
import { makeProgram, runProgram } from "../program.js";
import { drawTexts } from "./text-sheet.js";

await runProgram(
	makeProgram("run screenshots", "Draws the device's screen for the documentation.").action(() => {
		const { width, height, pixels } = drawTexts();
		const path = fileURLToPath(new URL("../../docs/images/text.png", import.meta.url));
		writeFileSync(path, makePng(width, height, pixels));
		console.log(path);
	}),
);
