// npm run screenshots: draws the pictures of docs/images that show the device's screen.
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { makePng } from "../fonts/bm-font.js";
import { makeProgram, runProgram } from "../program.js";
import { SHEETS } from "./sheets.js";

await runProgram(
	makeProgram("run screenshots", "Draws the device's screen for the documentation.").action(() => {
		for (const [name, draw] of Object.entries(SHEETS)) {
			const { width, height, pixels } = draw();
			const path = fileURLToPath(new URL(`../../docs/images/${name}.png`, import.meta.url));
			writeFileSync(path, makePng(width, height, pixels));
			console.log(path);
		}
	}),
);
