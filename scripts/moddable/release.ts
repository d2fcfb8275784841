import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ProgramError } from "../../toolchain/program.js";
import type { BoardImage } from "./images.js";

/** The content of a release. */
interface ReleaseContent {
	readonly name: string;
	readonly version: string;
	readonly images: readonly BoardImage[];
}

/**
 * Writes a release: SHA256SUMS, and a folder for each board with its images, manifest.json, and flash_args as ESP-IDF writes
 * it. An earlier release in that folder is removed.
 *
 * @throws ProgramError if two boards have the same name, or the folder holds other files
 */
export function writeRelease(output: string, release: ReleaseContent): void {
	const { images } = release;
	if (new Set(images.map(({ board }) => board)).size < images.length) {
		throw new ProgramError("duplicate board");
	}
	clear(output);
	const sums = images.flatMap((image) => writeBoard(output, release, image));
	writeFileSync(join(output, "SHA256SUMS"), sums.map((line) => `${line}\n`).join(""));
}

/**
 * Removes an earlier release, and nothing else.
 *
 * @throws ProgramError if the folder holds anything that a release does not have
 */
function clear(output: string): void {
	const files = existsSync(output) ? readdirSync(output) : [];
	const sums = files.includes("SHA256SUMS") ? readFileSync(join(output, "SHA256SUMS"), "utf8") : "";
	const boards = sums.split("\n").map((line) => line.slice(line.indexOf("  ") + 2).split("/")[0] ?? "");
	const other = files.find((file) => !["SHA256SUMS", ...boards].includes(file));
	if (other !== undefined || (files.length > 0 && sums === "")) {
		throw new ProgramError(`--output: ${output} contains files that are not part of a release: ${other ?? files[0]}`);
	}
	rmSync(output, { recursive: true, force: true });
}

/** @returns lines for `sha256sum --check` */
function writeBoard(output: string, release: ReleaseContent, image: BoardImage): string[] {
	const folder = join(output, image.board);
	mkdirSync(folder, { recursive: true });
	writeFileSync(join(folder, "manifest.json"), `${JSON.stringify(webManifest(release, image), null, "\t")}\n`);
	const files = image.parts.map(({ name, offset }) => `0x${offset.toString(16)} ${name}\n`);
	writeFileSync(join(folder, "flash_args"), `${image.flashOptions.join(" ")}\n${files.join("")}`);
	return image.parts.map(({ name, source }) => {
		copyFileSync(source, join(folder, name));
		return `${createHash("sha256").update(readFileSync(source)).digest("hex")}  ${image.board}/${name}`;
	});
}

/** The manifest.json of ESP Web Tools: https://esphome.github.io/esp-web-tools/ */
function webManifest({ name, version }: ReleaseContent, { board, chip, parts }: BoardImage): object {
	return {
		name: `${name} for ${board}`,
		version,
		new_install_prompt_erase: true,
		builds: [{ chipFamily: chipFamily(chip), parts: parts.map(({ name: path, offset }) => ({ path, offset })) }],
	};
}

/** ESP-IDF says "esp32s3", web flashers "ESP32-S3". */
function chipFamily(chip: string): string {
	const [, variant = ""] = /^esp32(\w*)$/.exec(chip) ?? [];
	return variant === "" ? chip.toUpperCase() : `ESP32-${variant.toUpperCase()}`;
}
