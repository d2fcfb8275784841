import { createHash } from "node:crypto";
import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ProgramError } from "../../toolchain/program.js";
import type { BoardImage } from "./images.js";
import { type ReleaseContent, releasePage } from "./release-page.js";

/** Firmware for boards, as it is published. */
export interface Release extends ReleaseContent {
	/** The folder of the npm package esp-web-tools, copied for the release page. Without it: no button. */
	readonly webTools?: string | undefined;
}

/** esp-web-tools' manifest.json. */
interface WebManifest {
	readonly name: string;
	readonly version: string;
	readonly new_install_prompt_erase: boolean;
	readonly builds: readonly {
		readonly chipFamily: string;
		readonly parts: readonly { readonly path: string; readonly offset: number }[];
	}[];
}

/** The folder, in the release and in the package, of what browsers load of esp-web-tools. */
const WEB_TOOLS = "esp-web-tools";
const WEB_TOOLS_SOURCE = join("dist", "web");

/**
 * Writes a release: a folder for each board with its images and manifest.json, SHA256SUMS, and index.html. An earlier
 * release in that folder is removed.
 *
 * @throws ProgramError if `webTools` is not the package, two boards have the same name, or the folder holds other files
 */
export function writeRelease(output: string, release: Release): void {
	const { images, webTools } = release;
	const source = webTools && join(webTools, WEB_TOOLS_SOURCE);
	if (source && !existsSync(join(source, "install-button.js"))) {
		throw new ProgramError(
			`--web-tools: ${webTools} is not the npm package esp-web-tools: it has no ${WEB_TOOLS_SOURCE}`,
		);
	}
	if (new Set(images.map(({ board }) => board)).size < images.length) {
		throw new ProgramError("duplicate board");
	}
	clear(output);
	const sums = images.flatMap((image) => writeBoard(output, release, image));
	writeFileSync(join(output, "SHA256SUMS"), sums.map((line) => `${line}\n`).join(""));
	if (source) {
		cpSync(source, join(output, WEB_TOOLS), { recursive: true });
		copyFileSync(join(webTools, "LICENSE"), join(output, WEB_TOOLS, "LICENSE"));
	}
	const script = source ? `${WEB_TOOLS}/install-button.js` : undefined;
	writeFileSync(join(output, "index.html"), releasePage(release, script));
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
	const other = files.find((file) => !["SHA256SUMS", "index.html", WEB_TOOLS, ...boards].includes(file));
	if (other !== undefined || (files.length > 0 && sums === "")) {
		throw new ProgramError(`--output: ${output} contains files that are not part of a release: ${other ?? files[0]}`);
	}
	rmSync(output, { recursive: true, force: true });
}

/** @returns lines for `sha256sum --check` */
function writeBoard(output: string, release: Release, image: BoardImage): string[] {
	const folder = join(output, image.board);
	mkdirSync(folder, { recursive: true });
	writeFileSync(join(folder, "manifest.json"), `${JSON.stringify(webManifest(release, image), null, "\t")}\n`);
	return image.parts.map(({ name, source }) => {
		copyFileSync(source, join(folder, name));
		return `${createHash("sha256").update(readFileSync(source)).digest("hex")}  ${image.board}/${name}`;
	});
}

/** Describes an image to a web flasher. */
function webManifest({ name, version }: Release, { board, chip, parts }: BoardImage): WebManifest {
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
