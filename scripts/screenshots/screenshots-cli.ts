// npm run screenshots: draws the pictures of docs/images that show the device's screen, and takes those of the console and of a
// virtual device's page.
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { makePng } from "../fonts/bm-font.js";
import { makeProgram, runProgram } from "../program.js";
import { takeConsolePictures } from "./console-pictures.js";
import { takeDevicePagePicture } from "./device-page-picture.js";
import { SHEETS } from "./sheets.js";

const IMAGES = fileURLToPath(new URL("../../docs/images/", import.meta.url));

await runProgram(
	makeProgram("run screenshots", "Draws the device's screen, and takes pictures of pages, for the documentation.")
		.option("--screen", "only the device's screen: it needs no Chromium")
		.action(async ({ screen }: { readonly screen?: boolean }) => {
			for (const [name, draw] of Object.entries(SHEETS)) {
				const { width, height, pixels } = draw();
				writeFileSync(`${IMAGES}${name}.png`, makePng(width, height, pixels));
				console.log(`${IMAGES}${name}.png`);
			}
			if (!screen) {
				for (const path of await takeConsolePictures(IMAGES)) {
					console.log(path);
				}
				console.log(await takeDevicePagePicture(`${IMAGES}device-page.png`));
			}
			// The bundler of the virtual device's firmware would keep this process.
			process.exit(0);
		}),
);
