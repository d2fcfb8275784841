import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";
import { modulesPlugin } from "../../../toolchain/modules-plugin.js";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** In two parts: the runner of the tests replaces the whole by the URL of the source. */
const OWN_URL = ["import.meta", "url"].join(".");

/** A change of the sources, by which an old fault is put back. */
export interface Patch {
	/** Path in this repository. */
	readonly file: string;
	/** Text that is in the file once. */
	readonly from: string;
	readonly to: string;
}

/** Bundles the gateway's core for the sandbox, with its libraries. Rejects if a patch does not fit the sources. */
export async function bundleCore(patches: readonly Patch[] = []): Promise<string> {
	const { outputFiles } = await build({
		absWorkingDir: ROOT,
		entryPoints: ["gateway/test/simulation/core/index.ts"],
		bundle: true,
		write: false,
		format: "cjs",
		platform: "node",
		target: "node20",
		external: ["piscina"],
		define: { [OWN_URL]: '"file:///simulation.js"' },
		logLevel: "error",
		plugins: [patchPlugin(patches), replaceLibraries, modulesPlugin()],
	});
	return (outputFiles[0] as { readonly text: string }).text;
}

/** Libraries that a module of the simulation replaces. */
const REPLACED: readonly (readonly [filter: RegExp, file: string])[] = [
	[/^lru-cache$/, "small-lru-cache.ts"],
	[/^prom-client$/, "no-metrics.ts"],
	[/^@nats-io\/(?:transport-node|jetstream|kv)$/, "nats.ts"],
];

const replaceLibraries: Plugin = {
	name: "replace-libraries",
	setup(build) {
		for (const [filter, file] of REPLACED) {
			const path = join(ROOT, "gateway/test/simulation/core", file);
			build.onResolve({ filter }, ({ importer }) => (importer === path ? undefined : { path }));
		}
	},
};

function patchPlugin(patches: readonly Patch[]): Plugin {
	return {
		name: "patches",
		setup(build) {
			if (patches.length === 0) {
				return;
			}
			build.onLoad({ filter: /\.ts$/ }, ({ path }) => {
				const own = patches.filter(({ file }) => path === join(ROOT, file));
				if (own.length === 0) {
					return undefined;
				}
				const contents = own.reduce(applied, readFileSync(path, "utf8"));
				return { contents, loader: "ts" };
			});
		},
	};
}

function applied(source: string, { file, from, to }: Patch): string {
	if (source.split(from).length !== 2) {
		throw new Error(`${file}: the text to be changed is not in it once: ${from}`);
	}
	return source.replace(from, () => to);
}
