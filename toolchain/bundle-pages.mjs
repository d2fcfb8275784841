// Bundles the pages for browsers: the gateway's console, the panel of a device in a chat, and the page of a virtual device.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));

/** The paths of the files that esbuild has read, from the folder that it worked in. */
export function inputsOf({ inputs }, folder) {
	return Object.keys(inputs).map((path) => resolve(folder, path));
}

/** Replaces a part of the SDK that browsers do not need. */
const SDK_ALIAS = { "@modelcontextprotocol/client/_shims": "./src/sdk-shims.ts" };

/** Bundles the gateway's console, and the panel of a device in a chat. Resolves with the paths of the files that were put in. */
export async function bundleConsole(folder) {
	const inputs = await bundlePage({ source: "gateway/console", name: "console", folder, alias: SDK_ALIAS });
	writeFileSync(`${folder}/panel.html`, await panelPage());
	return inputs;
}

/** Bundles the virtual device's page. Resolves with the paths of the files that were put in. */
export async function bundleDevicePage(folder) {
	return await bundlePage({ source: "virtual-device/page", name: "device", folder });
}

/**
 * Bundles a page for browsers: one script and one style sheet, whose names change with their contents, and the page that
 * loads them; and scripts that it imports later. Resolves with the paths of the files that were put in.
 *
 * @param source the folder of index.html and src/main.tsx
 * @param name of the script and the style sheet in index.html, without their endings
 */
async function bundlePage({ source, name, folder, alias = {} }) {
	const { build } = await import("esbuild");
	const absWorkingDir = `${root}${source}`;
	const { metafile } = await build({
		...FOR_BROWSERS,
		absWorkingDir,
		entryPoints: { [name]: "src/main.tsx" },
		entryNames: "[name]-[hash]",
		chunkNames: `${name}-[hash]`,
		assetNames: `${name}-[hash]`,
		// The code of a thread is a file of its own, whose URL the import gives.
		loader: { ".worklet.js": "file" },
		splitting: true,
		outdir: folder,
		metafile: true,
		alias,
	});
	const isMain = ([, { entryPoint }]) => entryPoint === "src/main.tsx";
	const [script, { cssBundle }] = Object.entries(metafile.outputs).find(isMain);
	const page = readFileSync(`${root}${source}/index.html`, "utf8");
	mkdirSync(folder, { recursive: true });
	writeFileSync(
		`${folder}/index.html`,
		page.replace(`${name}.css`, basename(cssBundle)).replace(`${name}.js`, basename(script)),
	);
	return inputsOf(metafile, absWorkingDir);
}

/** Zod's JSON Schemas of its own schemas, 20 KB that the pages never ask for: each function throws. */
const withoutJsonSchemas = {
	name: "without-json-schemas",
	setup({ onLoad }) {
		onLoad({ filter: /zod[\\/]v4[\\/]core[\\/](to-json-schema|json-schema-processors)\.js$/ }, ({ path }) => {
			const exported = readFileSync(path, "utf8").matchAll(/^export (?:const|function) (\w+)/gm);
			const names = Array.from(exported, ([, name]) => `none as ${name}`);
			return { contents: `const none = () => { throw new Error("not in this page"); };\nexport { ${names} };` };
		});
	},
};

/** Options of all bundles for browsers. */
const FOR_BROWSERS = {
	bundle: true,
	minify: true,
	format: "esm",
	platform: "browser",
	target: "es2022",
	jsx: "automatic",
	jsxImportSource: "preact",
	// The SDK loads it to sign in with a key, which no page does: 60 KB.
	external: ["jose"],
	charset: "utf8",
	legalComments: "none",
	logLevel: "error",
	plugins: [withoutJsonSchemas],
};

/** The panel of a device in a chat: one page with its script and style in it. */
async function panelPage() {
	const { build } = await import("esbuild");
	const { outputFiles } = await build({
		...FOR_BROWSERS,
		absWorkingDir: `${root}gateway/console`,
		entryPoints: { panel: "src/panel/main.tsx" },
		outdir: root,
		write: false,
		alias: SDK_ALIAS,
	});
	const contentOf = (ending) => outputFiles.find(({ path }) => path.endsWith(ending)).text;
	const page = readFileSync(`${root}gateway/console/panel.html`, "utf8");
	// Functions, because "$&" in a script would be put in place.
	return page.replace(/\/\* STYLE \*\//, () => contentOf(".css")).replace(/\/\* SCRIPT \*\//, () => contentOf(".js"));
}
