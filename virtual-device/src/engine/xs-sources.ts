import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { EngineError } from "./engine-error.js";

/** The host's sources. Paths are absolute. */
export interface XsSources {
	/** The .c files of XS and of our host. */
	readonly files: readonly string[];
	/** Folders with headers, ours first. */
	readonly includeFolders: readonly string[];
}

const HOST_FOLDER = fileURLToPath(new URL("../../xs-host/", import.meta.url));

/** Where binaries are kept, one folder for each hash. */
export const CACHE_FOLDER = fileURLToPath(new URL("../../../.cache/xs-host/", import.meta.url));

/** Finds the C sources in the package @agoric/xsnap. Rejects with an `EngineError` `no-sources` where it is not installed. */
export async function findXsSources(): Promise<XsSources> {
	try {
		const xs = join(dirname(createRequire(import.meta.url).resolve("@agoric/xsnap/package.json")), "moddable/xs");
		const folders = [HOST_FOLDER, join(xs, "sources"), join(xs, "includes"), join(xs, "platforms")];
		const files = await Promise.all([HOST_FOLDER, join(xs, "sources")].map((folder) => list(folder, [".c"])));
		return { files: files.flat(), includeFolders: folders };
	} catch (cause) {
		throw new EngineError("no-sources", "The XS sources are not installed (package @agoric/xsnap)", { cause });
	}
}

/** A key for the binary of these sources, compiler and flags: 16 hexadecimal digits. */
export async function hashSources(sources: XsSources, settings: readonly string[]): Promise<string> {
	const hash = createHash("sha256").update(JSON.stringify([process.platform, process.arch, ...settings]));
	const lists = await Promise.all(sources.includeFolders.map((folder) => list(folder, [".c", ".h"])));
	for (const file of lists.flat()) {
		hash.update(await readFile(file));
	}
	return hash.digest("hex").slice(0, 16);
}

async function list(folder: string, endings: readonly string[]): Promise<string[]> {
	const names = (await readdir(folder)).filter((name) => endings.some((ending) => name.endsWith(ending)));
	return names.sort().map((name) => join(folder, name));
}
