import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { Command } from "commander";
import { FIRMWARE } from "xs-mcp-firmware/core/firmware";
import { SETTINGS } from "xs-mcp-firmware/core/settings-table";
import { makeProgram, ProgramError, readJson } from "../build/program.js";
import { SUMS, writeChecksums } from "../release.js";
import { foldersOf, mcconfig, nameOf, outputOf, prepareTarget } from "./mcconfig.js";
import { findTarget, NAMED, needIdf, needSdk } from "./sdk.js";
import { addSettings } from "./settings.js";

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
			"mcconfig's name of a board to build for; may be repeated. all: those that mcconfig alone builds",
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
	const names = new Set(target.includes("all") ? NAMED : target);
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
	/** Folders with flasher_args.json, by the boards' names without their platform: "m5stack_cores3". */
	const builds = new Map<string, string>();
	for (const found of targets) {
		const { name, chip } = found;
		console.log(`Building the firmware for ${name} …`);
		const target = prepareTarget(sdk, found, project);
		// mcconfig has one name for all targets that are made of data.
		const folder = join(`${outputOf(project)}-release`, basename(name));
		await mcconfig(sdk, project, ["-p", target, "-t", "build", ...settings], { show: true, output: folder });
		const build = join(folder, "tmp", foldersOf(target), "release", nameOf(project), `xsProj-${chip}`, "build");
		builds.set(basename(name), build);
	}
	writeRelease(output, builds);
	console.log(`The release is in ${output}: ${[...builds.keys()].join(", ")}, SHA256SUMS`);
}

/** Members of flasher_args.json, in which ESP-IDF's build says how to flash it. */
interface FlasherArgs {
	/** esptool's options for the flash: "--flash_mode", "dio", … */
	readonly write_flash_args: readonly string[];
	/** Paths of files by their offsets: "0x1000". */
	readonly flash_files: Readonly<Record<string, string>>;
	readonly extra_esptool_args: { readonly chip: string };
}

/**
 * Writes a release: SHA256SUMS, and a folder for each board with its images, manifest.json, and flash_args as ESP-IDF writes
 * it. An earlier release in that folder is removed.
 *
 * @throws ProgramError if a build is not finished, or the folder holds other files
 */
function writeRelease(output: string, builds: ReadonlyMap<string, string>): void {
	const images = [...builds].map(([board, folder]) => ({ board, ...readImage(folder) }));
	clear(output);
	for (const { board, chip, flashOptions, parts } of images) {
		const place = join(output, board);
		mkdirSync(place, { recursive: true });
		// ESP-IDF says "esp32s3", web flashers "ESP32-S3".
		const chipFamily = chip.toUpperCase().replace(/^(ESP32)(?=\w)/, "$1-");
		// The manifest of ESP Web Tools: https://esphome.github.io/esp-web-tools/
		const manifest = {
			name: `${FIRMWARE.name} for ${board}`,
			version: FIRMWARE.version,
			new_install_prompt_erase: true,
			builds: [{ chipFamily, parts: parts.map(({ name: path, offset }) => ({ path, offset })) }],
		};
		writeFileSync(join(place, "manifest.json"), `${JSON.stringify(manifest, null, "\t")}\n`);
		const files = parts.map(({ name, offset }) => `0x${offset.toString(16)} ${name}\n`);
		writeFileSync(join(place, "flash_args"), `${flashOptions.join(" ")}\n${files.join("")}`);
		for (const { name, source } of parts) {
			copyFileSync(source, join(place, name));
		}
	}
	writeChecksums(output);
}

/**
 * Removes an earlier release, and nothing else.
 *
 * @throws ProgramError if the folder holds anything that a release does not have
 */
function clear(output: string): void {
	const files = existsSync(output) ? readdirSync(output) : [];
	const sums = files.includes(SUMS) ? readFileSync(join(output, SUMS), "utf8") : "";
	const boards = sums.split("\n").map((line) => line.slice(line.indexOf("  ") + 2).split("/")[0] ?? "");
	const other = files.find((file) => ![SUMS, ...boards].includes(file));
	if (other !== undefined || (files.length > 0 && sums === "")) {
		throw new ProgramError(`--output: ${output} contains files that are not part of a release: ${other ?? files[0]}`);
	}
	rmSync(output, { recursive: true, force: true });
}

/** Reads what to flash where, in the order of offsets. @throws ProgramError with the name of the missing or invalid file */
function readImage(folder: string) {
	const file = join(folder, "flasher_args.json");
	if (!existsSync(file)) {
		throw new ProgramError(`${file} does not exist: ESP-IDF has not finished a build there`);
	}
	const args = readJson<FlasherArgs>(file);
	const parts = Object.entries(args.flash_files)
		.map(([offset, path]) => ({ name: basename(path), source: join(folder, path), offset: Number(offset) }))
		.sort((a, b) => a.offset - b.offset);
	const missing = parts.find(({ source }) => !existsSync(source));
	if (missing !== undefined) {
		throw new ProgramError(`${missing.source} does not exist, though flasher_args.json names it`);
	}
	return { chip: args.extra_esptool_args.chip, flashOptions: args.write_flash_args, parts };
}
