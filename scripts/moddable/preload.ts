import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { matchesPreload } from "../../toolchain/manifests.js";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Where src/manifest.json includes the list from. */
const LIST = join(ROOT, ".cache", "moddable", "preload.json");

/**
 * Writes the names of the modules that the firmware's manifests preload by patterns: mcconfig's patterns match only
 * modules in JavaScript. It ignores the names of modules that a build does not have.
 */
export function listPreloads(): void {
	const files = readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" }).sort();
	const patterns = files.filter((file) => /manifest\.json$/.test(file)).flatMap((file) => readPreloads(file));
	const preload = files
		.filter((file) => /(?<!\.d)\.ts$/.test(file))
		.map((file) => `src/${file.replaceAll("\\", "/").slice(0, -".ts".length)}`)
		.filter((name) => patterns.some((pattern) => matchesPreload(pattern, name)));
	writeChanged(LIST, `${JSON.stringify({ preload }, undefined, "\t")}\n`);
}

function readPreloads(manifest: string): string[] {
	const { preload = [], platforms = {} } = JSON.parse(readFileSync(join(ROOT, "src", manifest), "utf8"));
	const all = [preload, ...Object.values<{ preload?: string[] }>(platforms).map((each) => each.preload ?? [])].flat();
	return all.filter((pattern) => pattern.startsWith("src/"));
}

/** Another build may read the file meanwhile. */
function writeChanged(path: string, content: string): void {
	if (!existsSync(path) || readFileSync(path, "utf8") !== content) {
		mkdirSync(dirname(path), { recursive: true });
		writeFileSync(`${path}.${process.pid}`, content);
		renameSync(`${path}.${process.pid}`, path);
	}
}
