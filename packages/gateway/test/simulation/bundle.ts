import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";
import { modulesPlugin } from "../../../xs-mcp/src/build/modules-plugin.js";
import type { Patch } from "./old-faults.js";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));

/** In two parts: the runner of the tests replaces the whole by the URL of the source. */
const OWN_URL = ["import.meta", "url"].join(".");

/** Bundles the gateway's core for the sandbox, with its libraries. Rejects if a patch does not fit the sources. */
export async function bundleCore(patches: readonly Patch[] = []): Promise<string> {
	const { outputFiles } = await build({
		absWorkingDir: ROOT,
		entryPoints: ["packages/gateway/test/simulation/core.ts"],
		bundle: true,
		write: false,
		format: "cjs",
		platform: "node",
		target: "node20",
		external: ["@nats-io/*"],
		define: { [OWN_URL]: '"file:///simulation.js"' },
		logLevel: "error",
		plugins: [replaceSources(patches), modulesPlugin()],
	});
	return (outputFiles[0] as { readonly text: string }).text;
}

/** Libraries that are not simulated, or whose start takes longer than most worlds, and what replaces them. */
const STAND_INS: Readonly<Record<string, string>> = {
	"lru-cache": `export class LRUCache extends Map {
		constructor({ memoMethod }) { super(); this.make = memoMethod; }
		memo(key) { this.has(key) || this.set(key, this.make(key)); return this.get(key); }
	}`,
	// Every value is valid.
	ajv: "export class Ajv { compile() { return () => true; } removeSchema() {} }",
	"ajv/dist/2020.js": "export { Ajv as Ajv2020 } from 'ajv';",
	// For files.
	"proper-lockfile": "",
};

const replaceSources = (patches: readonly Patch[]): Plugin => ({
	name: "replace-sources",
	setup(build) {
		build.onResolve({ filter: /^[\w./-]+$/ }, ({ path }) =>
			path in STAND_INS ? { path, namespace: "stand-in" } : undefined,
		);
		build.onLoad({ filter: /.*/, namespace: "stand-in" }, ({ path }) => ({ contents: STAND_INS[path] ?? "" }));
		build.onLoad({ filter: /\.ts$/ }, ({ path }) => {
			const own = patches.filter(({ file }) => path === join(ROOT, file));
			return own.length === 0 ? undefined : { contents: own.reduce(applied, readFileSync(path, "utf8")), loader: "ts" };
		});
	},
});

function applied(source: string, { file, from, to }: Patch): string {
	if (source.split(from).length !== 2) {
		throw new Error(`${file}: the text to be changed is not in it once: ${from}`);
	}
	return source.replace(from, () => to);
}
