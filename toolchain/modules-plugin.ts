import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Plugin } from "esbuild";
import { type Build, findNotPreloaded, moduleOf, readBuild } from "./manifests.js";

const ROOT = fileURLToPath(new URL("../", import.meta.url));

/** The modules that a module finds by their names. */
const FOUND: Readonly<Record<string, RegExp>> = {
	"src/platform/tools": /^src\/tools\/[^/]+\/[^/]+$/,
	"src/platform/features": /^src\/.+\/feature$/,
};

/**
 * Reads what the firmware's manifests have for a virtual device.
 *
 * @throws Error that names the manifest and its fault, also one that only a chip has
 */
export function readVirtual(): Build {
	const build = readBuild("manifest.json", "virtual");
	const missing = findNotPreloaded(build);
	if (missing !== undefined) {
		throw new Error(`${missing}: no manifest names it in "preload"`);
	}
	return build;
}

/**
 * Stands in for the SDK's module `modules`, which lists the modules of a build and imports them: here, those that the
 * manifests name for a virtual device.
 */
export const modulesPlugin: Plugin = {
	name: "modules",
	setup(build) {
		build.onResolve({ filter: /^modules$/ }, ({ importer }) => ({ path: moduleOf(importer), namespace: "modules" }));
		build.onLoad({ filter: /.*/, namespace: "modules" }, ({ path }) => ({
			contents: listModules([...readVirtual().modules].filter(([name]) => FOUND[path]?.test(name))),
			resolveDir: ROOT,
			loader: "js",
		}));
	},
};

function listModules(modules: readonly (readonly [name: string, file: string])[]): string {
	return [
		...modules.map(([, file], at) => `import module${at} from ${JSON.stringify(join(ROOT, file))};`),
		`const found = { ${modules.map(([name], at) => `${JSON.stringify(name)}: module${at}`).join(", ")} };`,
		"export default { host: Object.keys(found), importNow: (name) => found[name] };",
	].join("\n");
}
