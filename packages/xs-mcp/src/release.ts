import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { zipSync } from "fflate";

/** The file that lists the checksums of a release's files. */
export const SUMS = "SHA256SUMS";

/** Packs a folder and its subfolders into a ZIP file, which users unpack into the gateway's `firmwareFolder`. */
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
