// npm run firmware: makes images of the firmware that others can flash.
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { FIRMWARE } from "../../src/settings/firmware.js";
import { runProgram } from "../../toolchain/program.js";
import { type FirmwarePlan, findBuild, firmwareProgram } from "./firmware.js";
import { readImage } from "./images.js";
import { checkTypes, mcconfig, nameOf, outputOf } from "./mcconfig.js";
import { writeRelease } from "./release.js";
import type { Sdk } from "./sdk.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

await runProgram(firmwareProgram(makeFirmware));

async function makeFirmware({ build, finished, output }: FirmwarePlan): Promise<void> {
	const builds = [...finished];
	if (build !== undefined) {
		checkTypes();
		for (const { name } of build.targets) {
			console.log(`Building the firmware for ${name} …`);
			builds.push({ board: basename(name), folder: await buildTarget(build.sdk, name, build.settings) });
		}
	}
	const images = builds.map(({ board, folder }) => readImage(board, folder));
	writeRelease(output, { ...FIRMWARE, images });
	console.log(`The release is in ${output}: ${images.map(({ board }) => board).join(", ")}, SHA256SUMS`);
}

async function buildTarget(sdk: Sdk, target: string, settings: readonly string[]): Promise<string> {
	const output = `${outputOf(ROOT)}-release`;
	await mcconfig(sdk, ROOT, ["-p", target, "-t", "build", ...settings], { show: true, output });
	return findBuild(output, target, nameOf(ROOT));
}
