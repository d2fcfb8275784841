import { join } from "node:path";
import type { Plugin } from "esbuild";
import { ROOT } from "../root.js";
import { moduleOf, readModules } from "./manifests.js";

/** Patterns of the modules that a module finds by name. */
const FOUND: Readonly<Record<string, RegExp>> = {
	"src/platform/tools": /^(src\/tools\/(?!define-tool$)|tools\/)/,
	"src/platform/features": /^src\/features\/[^/]+$|^(src|features)\/.+\/feature$/,
	// A custom device, and the host's modules for its parts.
	"src/platform/in-build": /^(device$|embedded:|(neopixel|onewire|dht)$)/,
};

/** Module that defines a custom device. */
const DEVICE = "device";

/** Path of the firmware's manifest, from the project's folder. */
export const FIRMWARE_MANIFEST = "manifest.json";

/**
 * Stands in for the SDK's module `modules`, which lists the modules of a build and imports them: here, those that the
 * manifests name for a virtual device, and those of the host.
 *
 * @param manifest path of the build's manifest, from the project's folder
 * @param host files of the modules that the host has, by their names
 */
export function modulesPlugin(manifest = FIRMWARE_MANIFEST, host: Readonly<Record<string, string>> = {}): Plugin {
	return {
		name: "modules",
		setup(build) {
			build.onResolve({ filter: /^modules$/ }, ({ importer }) => ({ path: moduleOf(importer), namespace: "modules" }));
			build.onLoad({ filter: /.*/, namespace: "modules" }, ({ path }) => {
				const own = [...readModules(manifest, "virtual")].map(([name, file]) => [name, join(ROOT, file)] as const);
				// Only the parts of a device find modules of the host.
				const more = own.some(([name]) => name === DEVICE) ? Object.entries(host) : [];
				const found = [...own, ...more].filter(([name]) => FOUND[path]?.test(name));
				return { contents: listModules(found), resolveDir: ROOT, loader: "js" };
			});
		},
	};
}

function listModules(modules: readonly (readonly [name: string, file: string])[]): string {
	return [
		...modules.map(([, file], at) => `import module${at} from ${JSON.stringify(file)};`),
		`const found = { ${modules.map(([name], at) => `${JSON.stringify(name)}: module${at}`).join(", ")} };`,
		"const has = (name) => found[name] !== undefined;",
		"export default { host: Object.keys(found), has, importNow: (name) => found[name] };",
	].join("\n");
}
