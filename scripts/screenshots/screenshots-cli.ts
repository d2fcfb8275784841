// npm run screenshots: draws the pictures of docs/images that show the device's screen.
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { makePng } from "../../toolchain/fonts/bm-font.js";
import { makeProgram, runProgram } from "../../toolchain/program.js";
import { SHEETS } from "./sheets.js";

const IMAGES = fileURLToPath(new URL("../../docs/images/", import.meta.url));

await runProgram(
	makeProgram("run screenshots", "Draws the device's screen for the documentation.").action(() => {
		for (const [name, draw] of Object.entries(SHEETS)) {
			const { width, height, pixels } = draw();
			const path = `${IMAGES}${name}.png`;
			writeFileSync(path, makePng(width, height, pixels));
			console.log(path);
		}
	}),
);
