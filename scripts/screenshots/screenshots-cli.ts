// npm run screenshots: draws the pictures of docs/images that show the device's screen, takes those of the console and of a
// virtual device's page, and records the first minute in a terminal.
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Option } from "commander";
import { makePng } from "../../toolchain/fonts/bm-font.js";
import { makeProgram, runProgram } from "../../toolchain/program.js";
import { recordFirstMinute } from "../recording/first-minute.js";
import { takeGardenPictures } from "./garden-pictures.js";
import { takePagePictures } from "./page-pictures.js";
import { SHEETS } from "./sheets.js";

const IMAGES = fileURLToPath(new URL("../../docs/images/", import.meta.url));

await runProgram(
	makeProgram("run screenshots", "Draws the device's screen, and takes pictures of pages, for the documentation.")
		.addOption(new Option("--only <kind>", "only some of them").choices(["screen", "pages", "garden", "recording"]))
		.addHelpText("after", "\nPages need Chromium and a font with Chinese, the recording needs util-linux.")
		.action(async ({ only }: { readonly only?: string }) => {
			for (const [kind, take] of Object.entries({
				screen: drawScreens,
				pages: takePages,
				garden: takeGarden,
				recording: record,
			})) {
				if (only === undefined || only === kind) {
					await take();
				}
			}
			// The bundler of the virtual device's firmware would keep this process.
			process.exit(0);
		}),
);

function drawScreens(): void {
	for (const [name, draw] of Object.entries(SHEETS)) {
		const { width, height, pixels } = draw();
		writeFileSync(`${IMAGES}${name}.png`, makePng(width, height, pixels));
		console.log(`${IMAGES}${name}.png`);
	}
}

async function takePages(): Promise<void> {
	for (const path of await takePagePictures(IMAGES)) {
		console.log(path);
	}
}

async function takeGarden(): Promise<void> {
	for (const path of await takeGardenPictures(IMAGES)) {
		console.log(path);
	}
}

async function record(): Promise<void> {
	console.log(await recordFirstMinute(`${IMAGES}first-minute.svg`));
}
