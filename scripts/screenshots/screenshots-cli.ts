// npm run screenshots: draws the pictures of docs/images that show the device's screen, and takes those of the console and of a
// virtual device's page.
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Option } from "commander";
import { makePng } from "../../toolchain/fonts/bm-font.js";
import { makeProgram, runProgram } from "../../toolchain/program.js";
import { takePagePictures } from "./page-pictures.js";
import { SHEETS } from "./sheets.js";

const IMAGES = fileURLToPath(new URL("../../docs/images/", import.meta.url));

/** How each kind of pictures is made. All return the paths of the files. */
const KINDS = {
	screen: drawScreens,
	pages: () => takePagePictures(IMAGES),
};

await runProgram(
	makeProgram("run screenshots", "Draws the device's screen, and takes pictures of pages, for the documentation.")
		.addOption(new Option("--only <kind>", "only some of them").choices(Object.keys(KINDS)))
		.addHelpText("after", "\nPages need Chromium and a font with Chinese.")
		.action(async ({ only }: { readonly only?: string }) => {
			for (const [kind, take] of Object.entries(KINDS)) {
				if (only === undefined || only === kind) {
					console.log((await take()).join("\n"));
				}
			}
			// The bundler of the virtual device's firmware would keep this process.
			process.exit(0);
		}),
);

function drawScreens(): string[] {
	return Object.entries(SHEETS).map(([name, draw]) => {
		const { width, height, pixels } = draw();
		const path = `${IMAGES}${name}.png`;
		writeFileSync(path, makePng(width, height, pixels));
		return path;
	});
}
