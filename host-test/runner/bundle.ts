import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build, type Metafile, type Plugin } from "esbuild";
import { modulesPlugin } from "xs-mcp/build/modules-plugin";
import { OWN_PACKAGES } from "xs-mcp/bundle";
import { ROOT } from "xs-mcp/root";

/** Defines globals of XS that Node lacks. Each test process loads it first. */
export const XS_GLOBALS = "packages/xs-mcp/src/build/xs-globals.ts";

/** Programs and modules that tests start in processes of their own. */
const PROGRAMS = [
	XS_GLOBALS,
	"tools/bench/light-devices.ts",
	"examples/tour/main.ts",
	"packages/gateway/src/config/token-store.ts",
	"packages/gateway/test/simulation/simulate.ts",
	"packages/gateway/testing/store-counter.ts",
	"packages/gateway/testing/stdio.ts",
	"packages/xs-mcp/src/moddable/doctor.ts",
	"tools/release-cli.ts",
	"packages/xs-mcp/src/test-device.ts",
	"packages/xs-mcp/src/xs-mcp-cli.ts",
	"packages/virtual-device/src/cli.ts",
];

/** Program that the gateway starts from the folder of its bundle. */
const SCHEMA_PROCESS = { "schema-process": "packages/manager/src/core/schema-process.ts" };

const UNUSED_MODULE = `${ROOT}host-test/doubles/unused-module.ts`;

const GLYPHS = `${ROOT}packages/gateway/glyphs.bin`;

export interface Bundle {
	readonly folder: string;
	readonly inputs: Metafile["inputs"];
}

export interface BundleOptions {
	readonly folder?: string;
	readonly isKept?: boolean;
}

/**
 * Bundles test files into one folder, with one copy of shared code. Takes a second or two: to compile each
 * file in each process took minutes.
 */
export async function bundleTests(
	files: readonly string[],
	{ folder = `${ROOT}.cache/tests/${process.pid}`, isKept = false }: BundleOptions = {},
): Promise<Bundle> {
	// The watcher makes one bundle after another, in the same folder.
	if (!isKept && !existsSync(folder)) {
		process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
	}
	mkdirSync(folder, { recursive: true });
	copyFileSync(GLYPHS, `${folder}/glyphs.bin`);
	const sources = [...files, ...PROGRAMS.filter((path) => !files.includes(path))];
	const { metafile } = await build({
		absWorkingDir: ROOT,
		entryPoints: {
			...Object.fromEntries(sources.map((path) => [path.replace(/\.ts$/, ""), path])),
			...SCHEMA_PROCESS,
		},
		outdir: folder,
		bundle: true,
		splitting: true,
		packages: "external",
		alias: { ...OWN_PACKAGES, time: UNUSED_MODULE, timer: UNUSED_MODULE },
		format: "esm",
		platform: "node",
		target: "node20",
		sourcemap: true,
		metafile: true,
		logLevel: "error",
		plugins: [modulesPlugin(), keepOwnUrls],
	});
	return { folder, inputs: metafile.inputs };
}

/** Sources that are made to be bundled: they find files next to the bundle. */
const BUNDLED = [join(ROOT, "packages/gateway/src"), join(ROOT, "packages/manager/src")];

/** Keeps the source's `import.meta.url`, by which tests and programs find files next to it. */
const keepOwnUrls: Plugin = {
	name: "keep-own-urls",
	setup(build) {
		build.onLoad({ filter: /\.ts$/ }, ({ path }) => {
			const source = readFileSync(path, "utf8");
			if (BUNDLED.some((folder) => path.startsWith(folder)) || !source.includes("import.meta.url")) {
				return undefined;
			}
			const url = JSON.stringify(pathToFileURL(path).href);
			return { contents: source.replaceAll("import.meta.url", url), loader: "ts" };
		});
	},
};

/** The test files that import a changed file, directly or not. */
export function affectedBy(changed: readonly string[], tests: readonly string[], inputs: Metafile["inputs"]): string[] {
	const importers = new Map<string, string[]>();
	for (const [path, { imports }] of Object.entries(inputs)) {
		for (const { path: imported } of imports) {
			importers.set(imported, [...(importers.get(imported) ?? []), path]);
		}
	}
	const affected = new Set<string>();
	const queue = [...changed];
	for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
		if (!affected.has(path)) {
			affected.add(path);
			queue.push(...(importers.get(path) ?? []));
		}
	}
	return tests.filter((path) => affected.has(path));
}
