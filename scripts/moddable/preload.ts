import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isPreloaded, moduleOf } from "../../toolchain/manifests.js";
import { ROOT } from "../../toolchain/root.js";

/** Where src/manifest.json includes the list from. */
const LIST = join(ROOT, ".cache", "moddable", "preload.json");

/**
 * Writes the names of the firmware's modules that are preloaded: mcconfig's patterns match only modules in JavaScript. It
 * ignores the names of modules that a build does not have.
 */
export function listPreloads(): void {
	const preload = readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" })
		.filter((file) => /(?<!\.d)\.ts$/.test(file))
		.map((file) => moduleOf(join(ROOT, "src", file)))
		.filter(isPreloaded)
		.sort();
	writeChanged(LIST, `${JSON.stringify({ preload }, undefined, "\t")}\n`);
}

/** Another build may read the file meanwhile. */
function writeChanged(path: string, content: string): void {
	if (!existsSync(path) || readFileSync(path, "utf8") !== content) {
		mkdirSync(dirname(path), { recursive: true });
		writeFileSync(`${path}.${process.pid}`, content);
		renameSync(`${path}.${process.pid}`, path);
	}
}
