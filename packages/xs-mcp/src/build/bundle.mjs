// Bundles the repository's programs and pages, and the programs of published packages (npm run pack), with esbuild.
import { createHash } from "node:crypto";
import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = fileURLToPath(new URL("../../../../", import.meta.url));

const readJson = (path) => JSON.parse(readFileSync(root + path, "utf8"));

/** The pages, and the program that is only in the repository. */
const BUNDLES = { console: bundleConsole, device: bundleDevice, "device-page": (folder) => bundleDevicePage(folder) };

/** Folders that determine what is bundled. */
const SOURCES = [
	"packages/gateway/src",
	"packages/gateway/console",
	"packages/manager/src",
	"src",
	"packages/xs-mcp/src",
	"packages/virtual-device",
];

/** Sources of our packages by their `exports`, without this file: aliases where other packages stay imports. */
export const OWN_PACKAGES = Object.fromEntries(
	["src", "packages/gateway", "packages/manager", "packages/virtual-device", "packages/xs-mcp"].flatMap((folder) => {
		const { name, exports } = readJson(`${folder}/package.json`);
		const bundled = Object.entries(exports).filter(([path]) => path !== "./bundle");
		return bundled.map(([path, file]) => [
			`${name}${path.slice(1)}`.replace("/*", ""),
			`${root}${folder}/${file.slice(2)}`.replace("/*.ts", ""),
		]);
	}),
);

/** Age at which an outdated bundle is removed, ms. */
const MAX_AGE = 86_400_000;

/** Globals of CommonJS modules in a bundle. */
const COMMON_JS = `import { createRequire as __requireFrom } from "node:module";
const require = __requireFrom(import.meta.url);
const { filename: __filename, dirname: __dirname } = import.meta;`;

const FOR_NODE = {
	// Modules of the SDK that choose its JSON Schema validator.
	alias: {
		"@modelcontextprotocol/client/_shims": `${root}packages/manager/src/core/sdk-shims.ts`,
		"@modelcontextprotocol/server/_shims": `${root}packages/manager/src/core/sdk-shims.ts`,
	},
	splitting: true,
	platform: "node",
	target: "node20",
};

const FOR_BROWSERS = {
	alias: { "@modelcontextprotocol/client/_shims": `${root}packages/gateway/console/sdk-shims.ts` },
	minify: true,
	platform: "browser",
	target: "es2022",
	jsx: "automatic",
	jsxImportSource: "preact",
	// The SDK loads it to sign in with a key, which no page does: 60 KB.
	external: ["jose"],
	charset: "utf8",
};

/** Runs esbuild. All paths are relative to the repository. */
async function build(options) {
	const { build: run } = await import("esbuild");
	return await run({
		absWorkingDir: root,
		bundle: true,
		format: "esm",
		legalComments: "none",
		metafile: true,
		logLevel: "error",
		...options,
	});
}

/**
 * Puts a package's programs and libraries into a few files each, together with the packages that they use: that takes a tenth of
 * the space, and starts in half the time. `bundle` in the package.json names its contents.
 */
export async function bundlePackage(name, target, sourcemap) {
	const { programs = ".", entryPoints, external = [], files = [], page } = readJson(`${name}/package.json`).bundle;
	const { metafile } = await build({
		...FOR_NODE,
		entryPoints,
		external,
		outdir: `${target}/${programs}`,
		banner: { js: COMMON_JS },
		// Names stay: stacks and errors show them.
		minifyWhitespace: true,
		minifySyntax: true,
		sourcemap,
	});
	for (const file of [...files, "LICENSE"]) {
		cpSync(root + file, `${target}/${basename(file)}`);
	}
	writeLicences(target, [...Object.keys(metafile.inputs), ...((await BUNDLES[page]?.(`${target}/${page}`)) ?? [])]);
}

/** Bundles the gateway's console, and the panel of a device in a chat. Resolves with the paths of their sources. */
async function bundleConsole(folder) {
	const inputs = await bundlePage("packages/gateway/console", "console", folder);
	const { outputFiles } = await build({
		...FOR_BROWSERS,
		entryPoints: { panel: "packages/gateway/console/panel.tsx" },
		outdir: root,
		write: false,
	});
	const contentOf = (ending) => outputFiles.find(({ path }) => path.endsWith(ending)).text;
	// Functions, because `replace` would interpret "$&" in a script.
	const page = readFileSync(`${root}packages/gateway/console/panel.html`, "utf8")
		.replace("/* STYLE */", () => contentOf(".css"))
		.replace("/* SCRIPT */", () => contentOf(".js"));
	writeFileSync(`${folder}/panel.html`, page);
	return inputs;
}

const bundleDevicePage = (folder) => bundlePage("packages/virtual-device/page", "device", folder);

/**
 * Bundles a page: one script and one style sheet, whose names change with their contents, the page that loads them, and scripts
 * that it imports later. Resolves with the paths of their sources.
 *
 * @param source the folder of index.html and main.tsx
 * @param name of the script and the style sheet in index.html, without their endings
 */
async function bundlePage(source, name, folder) {
	const main = `${source}/main.tsx`;
	const { metafile } = await build({
		...FOR_BROWSERS,
		entryPoints: { [name]: main },
		entryNames: "[name]-[hash]",
		chunkNames: `${name}-[hash]`,
		assetNames: `${name}-[hash]`,
		// The code of a thread is a file of its own, whose URL the import gives.
		loader: { ".worklet.js": "file" },
		splitting: true,
		outdir: folder,
	});
	const [script, { cssBundle }] = Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint === main);
	const page = readFileSync(`${root}${source}/index.html`, "utf8")
		.replace(`${name}.css`, basename(cssBundle))
		.replace(`${name}.js`, basename(script));
	writeFileSync(`${folder}/index.html`, page);
	return Object.keys(metafile.inputs);
}

/** Bundles the virtual device's program, whose modules find their files from `packages/xs-mcp/src/root.ts`. */
async function bundleDevice(outdir) {
	await build({
		...FOR_NODE,
		entryPoints: { cli: "packages/virtual-device/src/cli.ts" },
		outdir,
		packages: "external",
		alias: { ...FOR_NODE.alias, ...OWN_PACKAGES },
		define: { "import.meta.url": JSON.stringify(new URL("../root.ts", import.meta.url)) },
		sourcemap: true,
	});
	const { stop } = await import("esbuild");
	await stop();
}

/**
 * Bundles a package, "console", "device" or "device-page" from the current sources, unless that was done before.
 * Resolves with the URL of its folder.
 */
export async function cachedBundle(name) {
	const hash = createHash("sha256")
		.update(readFileSync(`${root}package-lock.json`))
		.update(JSON.stringify(OWN_PACKAGES));
	for (const folder of SOURCES) {
		for (const path of readdirSync(root + folder, { recursive: true }).sort()) {
			const file = `${root}${folder}/${path}`;
			hash.update(`${path}\0`).update(statSync(file).isFile() ? readFileSync(file) : "");
		}
	}
	const cache = `${root}.cache/bundles`;
	const folder = `${cache}/${name}-${hash.digest("hex").slice(0, 16)}`;
	if (!existsSync(folder)) {
		const temporary = `${folder}.${process.pid}`;
		await (BUNDLES[name]?.(temporary) ?? bundlePackage(name, temporary, true));
		try {
			renameSync(temporary, folder);
		} catch {
			// Another process was faster.
			rmSync(temporary, { recursive: true });
		}
		for (const old of readdirSync(cache).map((each) => `${cache}/${each}`)) {
			if (Date.now() - statSync(old).mtimeMs > MAX_AGE) {
				rmSync(old, { recursive: true, force: true });
			}
		}
	}
	return `${pathToFileURL(folder).href}/`;
}

/** Writes the licences of the packages whose files are in a bundle. Paths of these are relative to the repository. */
function writeLicences(target, inputs) {
	const folders = new Set(inputs.flatMap((path) => /^.*\bnode_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? []));
	const texts = [...folders].sort().map((each) => {
		const folder = `${root}${each}`;
		const { name, version, license } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
		const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
		const text = file === undefined ? "" : `\n\n${readFileSync(`${folder}/${file}`, "utf8").trim()}`;
		return `${name} ${version}: ${license}${text}`;
	});
	writeFileSync(`${target}/THIRD-PARTY-LICENSES`, `${texts.join(`\n\n${"-".repeat(80)}\n\n`)}\n`);
}
