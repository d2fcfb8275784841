// Bundles the packages that run on Node: for their programs in this repository (bin/), and to be published (pack.mjs).
import { createHash } from "node:crypto";
import { copyFileSync, cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { bundleConsole, bundleDevicePage, inputsOf } from "./bundle-pages.mjs";

const root = fileURLToPath(new URL("../", import.meta.url));
const cache = `${root}.cache/bundles`;

/** The entry points of each package, by their names in the bundle. */
const ENTRY_POINTS = {
	"mcp-manager": {
		cli: "src/proxy/cli.ts",
		index: "src/manager/index.ts",
		core: "src/core/index.ts",
		proxy: "src/proxy/index.ts",
	},
	gateway: {
		cli: "src/cli/main.ts",
		index: "src/index.ts",
		manager: "src/manager.ts",
	},
	"integrations/pi": {
		"mcp-client": "mcp-client.ts",
	},
};

/** Files that determine the bundles' contents. */
const SOURCES = [
	"gateway/src",
	"gateway/console",
	"gateway/glyphs.bin",
	"gateway/mcpb",
	"mcp-manager/src",
	"src",
	"toolchain",
	"virtual-device/src",
	"virtual-device/page",
	"package-lock.json",
];

/** Milliseconds after which an outdated bundle is removed. */
const KEPT = 86_400_000;

/** Not put into a bundle: it starts a file of its own in a thread. */
export const NOT_BUNDLED = ["piscina"];

/** Globals for modules of CommonJS in a bundle. */
const COMMON_JS = `import { createRequire as __requireFrom } from "node:module";
import { dirname as __folderOf } from "node:path";
import { fileURLToPath as __pathOf } from "node:url";
const require = __requireFrom(import.meta.url);
const __filename = __pathOf(import.meta.url);
const __dirname = __folderOf(__filename);`;

/** The validator of the SDK's client and server, which each bring a copy of Ajv: in a file of its own, loaded on use. */
const VALIDATOR = { file: "sdk-validator.cjs", source: "@modelcontextprotocol/server/_shims" };

/** Replacement of the SDK's shimsNode.mjs. */
const SDK_SHIMS = `
import process from "node:process";
export const CORS_IS_POSSIBLE = false;
export class DefaultJsonSchemaValidator {
	#validator;
	getValidator(schema) {
		this.#validator ??= new (require("./${VALIDATOR.file}").DefaultJsonSchemaValidator)();
		return this.#validator.getValidator(schema);
	}
}
export { process };`;

/** The only classes of rate-limiter-flexible that the gateway uses. */
const LIMITERS = `
exports.RateLimiterMemory = require("./lib/RateLimiterMemory");
exports.RateLimiterRes = require("./lib/RateLimiterRes");`;

/**
 * Replaces modules that each start would load without using them: the SDK's validator, Zod's messages in 60 languages, the spans of
 * OpenTelemetry in metrics, and limiters that keep their state in databases.
 */
const withoutUnused = {
	name: "without-unused",
	setup({ onLoad, onResolve }) {
		onResolve({ filter: /^@modelcontextprotocol\/(client|server)\/_shims$/ }, ({ path }) => ({
			path,
			namespace: "shims",
		}));
		onLoad({ filter: /.*/, namespace: "shims" }, () => ({ contents: SDK_SHIMS }));
		onResolve({ filter: /sdk-validator\.cjs$/ }, ({ path }) => ({ path, external: true }));
		onLoad({ filter: /zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
			contents: 'export { default as en } from "./en.js";',
		}));
		onLoad({ filter: /rate-limiter-flexible[\\/]index\.js$/ }, () => ({ contents: LIMITERS }));
		onResolve({ filter: /^@opentelemetry\/api$/ }, ({ path }) => ({ path, namespace: "unused" }));
		onLoad({ filter: /.*/, namespace: "unused" }, () => ({ contents: "module.exports = undefined;" }));
	},
};

const MANAGER = `${root}mcp-manager/src`;

/** The manager's sources, by the names of the package. */
const MANAGER_ALIAS = {
	"xs-mcp-manager/core": `${MANAGER}/core/index.ts`,
	"xs-mcp-manager/proxy": `${MANAGER}/proxy/index.ts`,
	"xs-mcp-manager": `${MANAGER}/manager/index.ts`,
};

/** Less to read at each start. Names stay: stacks and errors show them. */
const COMPACT = { minifyWhitespace: true, minifySyntax: true, legalComments: "none" };

/**
 * Puts a package's program (`cli.js`) and libraries into a few files each, together with what they use of the firmware's
 * sources and of other packages, but for {@link NOT_BUNDLED}, which Node finds in the node_modules above the folder: that takes a
 * tenth of the space, and starts in half the time.
 *
 * @param name a folder: "gateway", "mcp-manager" or "integrations/pi"
 * @param sourcemap whether source maps are written beside the files
 * @returns the paths of the files that were put in
 */
export async function bundle(name, folder, { sourcemap = true } = {}) {
	const { build } = await import("esbuild");
	const absWorkingDir = `${root}${name}`;
	const { metafile } = await build({
		absWorkingDir,
		entryPoints: {
			...ENTRY_POINTS[name],
			"validation-worker": `${MANAGER}/core/validation-worker.ts`,
		},
		alias: MANAGER_ALIAS,
		outdir: folder,
		bundle: true,
		external: NOT_BUNDLED,
		banner: { js: COMMON_JS },
		plugins: [withoutUnused],
		...COMPACT,
		splitting: true,
		format: "esm",
		platform: "node",
		target: "node20",
		sourcemap,
		metafile: true,
		logLevel: "error",
	});
	const inputs = [...inputsOf(metafile, absWorkingDir), ...(await bundleValidator(folder))];
	if (name === "gateway") {
		for (const file of ["glyphs.bin", "glyphs-LICENSE.txt"]) {
			copyFileSync(`${root}gateway/${file}`, `${folder}/${file}`);
		}
		cpSync(`${root}gateway/mcpb`, `${folder}/mcpb`, { recursive: true });
		return [...inputs, ...(await bundleConsole(`${folder}/console`))];
	}
	return inputs;
}

/** Bundles the file of {@link VALIDATOR}. Resolves with the paths of the files that were put in. */
async function bundleValidator(folder) {
	const { build } = await import("esbuild");
	const { metafile } = await build({
		stdin: {
			contents: `export { DefaultJsonSchemaValidator } from "${VALIDATOR.source}";`,
			resolveDir: `${root}gateway`,
		},
		absWorkingDir: root,
		outfile: `${folder}/${VALIDATOR.file}`,
		bundle: true,
		format: "cjs",
		platform: "node",
		target: "node20",
		metafile: true,
		logLevel: "error",
		...COMPACT,
	});
	return inputsOf(metafile, root).filter((path) => existsSync(path));
}

/** Bundles a package's sources as they are now, unless that was done before. Resolves with the URL of `cli.js`. */
export async function cachedBundle(name) {
	return programIn(await cached(name, (folder) => bundle(name, folder)));
}

/** The same for the console alone. Resolves with its folder: for gateways that are not started from a bundle. */
export async function cachedConsoleBundle() {
	return await cached("console", bundleConsole);
}

/** The same for a virtual device's page. Resolves with its folder. */
export async function cachedDevicePageBundle() {
	return await cached("device-page", bundleDevicePage);
}

/** The same for the virtual device's program; the bundler then exits. Resolves with the URL of `cli.js`. */
export async function cachedDeviceBundle() {
	const folder = await cached("device", async (folder) => {
		const { build, stop } = await import("esbuild");
		await build({
			entryPoints: { cli: `${root}virtual-device/src/cli.ts` },
			outdir: folder,
			bundle: true,
			// Modules that are loaded on use stay apart: the TypeScript compiler would be in the memory of every device.
			splitting: true,
			alias: MANAGER_ALIAS,
			packages: "external",
			format: "esm",
			platform: "node",
			target: "node20",
			sourcemap: true,
			logLevel: "error",
			plugins: [sourceUrls],
		});
		await stop();
	});
	return programIn(folder);
}

/** A module finds its files beside its source, wherever the bundle is. */
const sourceUrls = {
	name: "source-urls",
	setup({ onLoad }) {
		onLoad({ filter: /(virtual-device[\\/]src|toolchain)[\\/].*\.ts$/ }, ({ path }) => ({
			contents: readFileSync(path, "utf8").replaceAll("import.meta.url", JSON.stringify(pathToFileURL(path).href)),
			loader: "ts",
		}));
	},
};

async function cached(name, make) {
	const folder = `${cache}/${name}-${hashOfSources()}`;
	if (!existsSync(folder)) {
		const temporary = `${folder}.${process.pid}`;
		await make(temporary);
		try {
			renameSync(temporary, folder);
		} catch {
			// Another process was faster.
			rmSync(temporary, { recursive: true });
		}
		removeOld();
	}
	return folder;
}

function programIn(folder) {
	return pathToFileURL(`${folder}/cli.js`).href;
}

function hashOfSources() {
	const hash = createHash("sha256");
	for (const path of SOURCES.flatMap((source) => filesIn(`${root}${source}`))) {
		hash.update(`${path}\0`).update(readFileSync(path));
	}
	return hash.digest("hex").slice(0, 16);
}

function filesIn(path) {
	return statSync(path).isDirectory()
		? readdirSync(path)
				.sort()
				.flatMap((name) => filesIn(`${path}/${name}`))
		: [path];
}

function removeOld() {
	for (const name of readdirSync(cache)) {
		const folder = `${cache}/${name}`;
		if (Date.now() - statSync(folder).mtimeMs > KEPT) {
			rmSync(folder, { recursive: true, force: true });
		}
	}
}
