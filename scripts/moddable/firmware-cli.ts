// npm run firmware: makes images of the firmware that others can flash.
import { basename } from "node:path";
import { FIRMWARE } from "../../src/settings/firmware.js";
import { runProgram } from "../../toolchain/program.js";
import { ROOT } from "../../toolchain/root.js";
import { buildFolder, type FirmwarePlan, firmwareProgram } from "./firmware.js";
import { readImage } from "./images.js";
import { mcconfig, nameOf, outputOf } from "./mcconfig.js";
import { writeRelease } from "./release.js";
import type { Sdk } from "./sdk.js";
import type { Target } from "./targets.js";

await runProgram(firmwareProgram(makeFirmware));

async function makeFirmware({ build, finished, output }: FirmwarePlan): Promise<void> {
	const builds = [...finished];
	if (build !== undefined) {
		for (const target of build.targets) {
			console.log(`Building the firmware for ${target.name} …`);
			builds.push({ board: basename(target.name), folder: await buildTarget(build.sdk, target, build.settings) });
		}
	}
	const images = builds.map(({ board, folder }) => readImage(board, folder));
	writeRelease(output, { ...FIRMWARE, images });
	console.log(`The release is in ${output}: ${images.map(({ board }) => board).join(", ")}, SHA256SUMS`);
}

async function buildTarget(sdk: Sdk, target: Target, settings: readonly string[]): Promise<string> {
	const output = `${outputOf(ROOT)}-release`;
	await mcconfig(sdk, ROOT, ["-p", target.name, "-t", "build", ...settings], { show: true, output });
	return buildFolder(output, target, nameOf(ROOT));
}
