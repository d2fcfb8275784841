import { basename, join } from "node:path";
import type { Command } from "commander";
import { SETTINGS } from "../../../../src/core/settings-table.js";
import { makeProgram, ProgramError } from "../build/program.js";
import { prepareTarget } from "./board-target.js";
import { type FinishedBuild, writeRelease } from "./images.js";
import { foldersOf, mcconfig, nameOf, outputOf } from "./mcconfig.js";
import { needIdf, needSdk } from "./sdk.js";
import { addSettings } from "./settings.js";
import { BOARDS, CHIPS, findTarget } from "./targets.js";

const EPILOGUE = `
The output folder gets SHA256SUMS, and a folder for each board: its images, a manifest.json for web flashers, and flash_args
for esptool. Everybody can read the settings in an image: passwords and tokens are rejected.
xs-mcp doctor --for build says what is missing, and how to get it.`;

/** Settings that must not be published. */
const SECRETS = [
	...Object.entries(SETTINGS).flatMap(([name, { kind }]) =>
		["secret", "hex", "networks"].includes(kind) ? [name] : [],
	),
	...["ssid", "serialNumber", "mqttUsername"],
];

interface Options {
	readonly target: readonly string[];
	readonly output: string;
}

/**
 * `xs-mcp firmware`: makes images that others can flash.
 *
 * @param folder of the manifest
 */
export function firmwareProgram(folder: string): Command {
	const program = makeProgram("xs-mcp firmware", "Builds firmware images to publish.")
		.option(
			"--target <target>",
			"mcconfig's name of a board to build for; may be repeated. all: those in docs/boards.md",
			(word: string, words: readonly string[]) => [...words, word],
			[],
		)
		.option("--output <folder>", "output folder", "dist/firmware")
		.addHelpText("after", EPILOGUE);
	return addSettings(program, folder, "otaUrl=https://HOST/PATH …").action(
		async (settings: readonly string[], options: Options) => await makeFirmware(folder, settings, options),
	);
}

/** @throws ProgramError that names what is missing, unknown or secret */
async function makeFirmware(project: string, settings: readonly string[], { target, output }: Options): Promise<void> {
	const names = new Set(target.includes("all") ? [...CHIPS, ...BOARDS] : target);
	if (names.size === 0) {
		throw new ProgramError("--target is missing: the boards to make images for");
	}
	const secret = settings.map((setting) => setting.split("=")[0] ?? "").find((name) => SECRETS.includes(name));
	if (secret !== undefined) {
		throw new ProgramError(`${secret}: would be readable in the published image; users set it on their own boards`);
	}
	const sdk = needSdk();
	const targets = [...names].map((name) => findTarget(sdk, name));
	needIdf(process.env);
	const folder = `${outputOf(project)}-release`;
	const builds: FinishedBuild[] = [];
	for (const found of targets) {
		const { name, chip } = found;
		console.log(`Building the firmware for ${name} …`);
		const target = prepareTarget(sdk, found, project);
		await mcconfig(sdk, project, ["-p", target, "-t", "build", ...settings], { show: true, output: folder });
		const build = join(folder, "tmp", foldersOf(target), "release", nameOf(project), `xsProj-${chip}`, "build");
		builds.push({ board: basename(name), folder: build });
	}
	writeRelease(output, builds);
	console.log(`The release is in ${output}: ${builds.map(({ board }) => board).join(", ")}, SHA256SUMS`);
}
