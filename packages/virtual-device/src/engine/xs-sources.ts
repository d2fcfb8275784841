import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { ROOT } from "../../../root.js";
import { EngineError } from "./engine.js";

/** The host's sources. Paths are absolute. */
export interface XsSources {
	/** The .c files of XS and of our host. */
	readonly files: readonly string[];
	/** Folders with headers, ours first. */
	readonly includeFolders: readonly string[];
}

const HOST_FOLDER = join(ROOT, "packages/virtual-device/xs-host");

/** XS in a package of the firmware. In the repository it is in @agoric/xsnap. */
const PACKED = join(ROOT, "virtual-device/xs");

/** Folder of binaries, with one folder for each hash. All projects of a person share it. */
export const CACHE_FOLDER = existsSync(PACKED)
	? join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "xs-mcp", "xs-host")
	: join(ROOT, ".cache/xs-host");

/** Finds the C sources of XS. Rejects with an `EngineError` `no-sources` where they are not installed. */
export async function findXsSources(): Promise<XsSources> {
	try {
		const xs = existsSync(PACKED) ? PACKED : installedXs();
		const folders = [HOST_FOLDER, join(xs, "sources"), join(xs, "includes"), join(xs, "platforms")];
		const files = await Promise.all([HOST_FOLDER, join(xs, "sources")].map((folder) => list(folder, [".c"])));
		return { files: files.flat(), includeFolders: folders };
	} catch (cause) {
		throw new EngineError("no-sources", "The XS sources are not installed (package @agoric/xsnap)", { cause });
	}
}

function installedXs(): string {
	return join(dirname(createRequire(import.meta.url).resolve("@agoric/xsnap/package.json")), "moddable/xs");
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
