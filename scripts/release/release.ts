import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { zipSync } from "fflate";
import { ProgramError } from "../../toolchain/program.js";

/** The file that lists the checksums of a release's files. */
export const SUMS = "SHA256SUMS";

/**
 * The notes of a version: its section of the changelog, without the heading.
 *
 * @throws ProgramError if the section does not exist or is empty
 */
export function notesOf(changelog: string, version: string): string {
	const notes = sectionOf(changelog, version);
	if (notes === "") {
		throw new ProgramError(`CHANGELOG.md: nothing under "## ${version}"`);
	}
	return `${notes}\n`;
}

/**
 * Refuses a release that its notes would not describe.
 *
 * @throws ProgramError if the changelog has unreleased changes
 */
export function refuseUnreleased(changelog: string): void {
	if (sectionOf(changelog, "Unreleased") !== "") {
		throw new ProgramError(
			'CHANGELOG.md has changes under "## Unreleased": set the version in src/settings/firmware.ts, and name the section after it',
		);
	}
}

/** The text below a heading, up to the next; empty if the heading does not exist. */
function sectionOf(changelog: string, name: string): string {
	const section = changelog.split(/^## /m).find((each) => each.split("\n", 1)[0]?.split(" ")[0] === name);
	return section?.slice(section.indexOf("\n")).trim() ?? "";
}

/** A folder with its folders as a ZIP file: of images, for the gateway's `firmwareFolder` once it is unpacked. */
export function zipFolder(folder: string): Uint8Array {
	return zipSync(Object.fromEntries(filesIn(folder).map((name) => [name, readFileSync(join(folder, name))])));
}

/** Writes SHA256SUMS of a folder's files, as `sha256sum --check` reads it. Returns their names. */
export function writeChecksums(folder: string): string[] {
	const names = filesIn(folder).filter((name) => name !== SUMS);
	const sumOf = (name: string): string =>
		createHash("sha256")
			.update(readFileSync(join(folder, name)))
			.digest("hex");
	writeFileSync(join(folder, SUMS), names.map((name) => `${sumOf(name)}  ${name}\n`).join(""));
	return names;
}

/** Lists the files of a folder and its folders, sorted. */
function filesIn(folder: string): string[] {
	return readdirSync(folder, { recursive: true, encoding: "utf8" })
		.filter((name) => statSync(join(folder, name)).isFile())
		.map((name) => name.replaceAll("\\", "/"))
		.sort();
}
