import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { ProgramError, readJson } from "../../toolchain/program.js";

/** A file of an image, and where in the flash it belongs. */
interface ImagePart {
	/** The file's name, without its folder. */
	readonly name: string;
	/** Its path in the build. */
	readonly source: string;
	/** Bytes from the beginning of the flash. */
	readonly offset: number;
}

/** A board's image as built by ESP-IDF. */
export interface BoardImage {
	/** mcconfig's name of the board, without its platform: "m5stack_cores3". */
	readonly board: string;
	/** ESP-IDF's name of the chip: "esp32s3". */
	readonly chip: string;
	/** esptool's options for the flash: "--flash_mode", "dio", … */
	readonly flashOptions: readonly string[];
	/** In the order of their offsets. */
	readonly parts: readonly ImagePart[];
}

/** The file of ESP-IDF's build that lists what to flash where. */
const FLASHER_ARGS = "flasher_args.json";

/** The members that are read. */
interface FlasherArgs {
	readonly write_flash_args?: unknown;
	readonly flash_files?: unknown;
	readonly extra_esptool_args?: { readonly chip?: unknown };
}

/**
 * Reads a finished build of ESP-IDF.
 *
 * @param build its folder: the one with flasher_args.json
 * @throws ProgramError with the name of the missing or invalid file
 */
export function readImage(board: string, build: string): BoardImage {
	const file = join(build, FLASHER_ARGS);
	if (!existsSync(file)) {
		throw new ProgramError(`${file} does not exist: ESP-IDF has not finished a build there`);
	}
	const { write_flash_args: options, flash_files: files, extra_esptool_args: extra } = readJson<FlasherArgs>(file);
	const chip = extra?.chip;
	if (typeof chip !== "string" || !isTexts(options) || typeof files !== "object" || files === null) {
		throw new ProgramError(`${file}: write_flash_args, flash_files or extra_esptool_args.chip is missing`);
	}
	const parts = Object.entries(files).map(([offset, path]) => readPart(file, build, offset, path));
	return { board, chip, flashOptions: options, parts: parts.sort((a, b) => a.offset - b.offset) };
}

function readPart(file: string, build: string, offset: string, path: unknown): ImagePart {
	if (!/^0x[\da-f]+$/i.test(offset) || typeof path !== "string") {
		throw new ProgramError(
			`${file}: flash_files: expected an offset such as 0x1000 and a file, got ${offset}: ${path}`,
		);
	}
	const source = join(build, path);
	if (!existsSync(source)) {
		throw new ProgramError(`${source} does not exist, though ${FLASHER_ARGS} names it`);
	}
	return { name: basename(path), source, offset: Number(offset) };
}

function isTexts(value: unknown): value is readonly string[] {
	return Array.isArray(value) && value.every((each) => typeof each === "string");
}
