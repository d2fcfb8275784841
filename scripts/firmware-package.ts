import { spawnSync } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import { build, type Metafile, type Plugin } from "esbuild";
import { FIRMWARE } from "../src/settings/firmware.js";
import { ProgramError } from "../toolchain/program.js";
import { ROOT } from "../toolchain/root.js";

/** Input of builds with Moddable's SDK, the virtual device's bundler and its engine. */
const SOURCES = [
	"manifest.json",
	"manifest_minimal.json",
	"manifest_roomy.json",
	"src",
	"toolchain",
	"tsconfig.json",
	"tsconfig.xs.json",
	"virtual-device/platform",
	"virtual-device/src/engine/v8-realm.mjs",
	"virtual-device/src/engine/v8-worker.mjs",
	"virtual-device/xs-host",
];

/** The manifests among them that name the firmware. */
const NAMED = ["manifest.json", "manifest_minimal.json"];

/** The engine's sources in the package @agoric/xsnap, which would bring 60 more packages and build itself when it is installed. */
const XS = ["includes", "platforms", "sources"];

/** The texts of its licence, which are not in that package. The first one adds to the second. */
const XS_LICENCES = { "COPYING.LESSER": "lgpl-3.0.txt", COPYING: "gpl-3.0.txt" };

/** Packages that the programs find in node_modules. */
const NOT_BUNDLED = ["esbuild", "typescript"];

/** Globals for modules of CommonJS in a bundle. */
const COMMON_JS =
	'import { createRequire as __requireFrom } from "node:module"; const require = __requireFrom(import.meta.url);';

/** The types' globals that no import brings. */
const GLOBALS = `
declare global {
	/** Writes to the device's log, without a line end. */
	function trace(...text: unknown[]): void;
}
`;

interface PackageFiles {
	writeLicences(target: string, inputs: readonly string[]): void;
}

interface Declarations {
	bundleDeclarations(entries: Readonly<Record<string, string>>, folder: string): Promise<void>;
}

interface PageBundler {
	bundleDevicePage(folder: string): Promise<string[]>;
}

const { writeLicences }: PackageFiles = await import(new URL("package-files.mjs", import.meta.url).href);
const { bundleDevicePage }: PageBundler = await import(new URL("../toolchain/bundle-pages.mjs", import.meta.url).href);
const { bundleDeclarations }: Declarations = await import(new URL("declarations.mjs", import.meta.url).href);

const { dependencies, devDependencies, engines, license } = readPackage(ROOT);

/** Version of TypeScript that projects get: mcconfig starts it once per file, and version 7 is ten times as fast as 6. */
const TYPESCRIPT = devDependencies["typescript-7"]?.split("@").at(-1);

/**
 * Makes the package xs-mcp, and its tarball: the firmware and its virtual device, for projects. In it each file has the place
 * that it has here, so that the same code finds it.
 *
 * @param folder gets the tarball, and the package's folder
 */
export async function packFirmware(folder: string): Promise<void> {
	const target = emptied(join(folder, FIRMWARE.name));
	for (const source of SOURCES) {
		cpSync(join(ROOT, source), join(target, source), { recursive: true });
	}
	for (const manifest of NAMED) {
		dropName(join(target, manifest));
	}
	copyXs(join(target, "virtual-device", "xs"));
	const ofPage = await copyMade(target);
	const inputs = await bundlePrograms(target, {
		index: "src/parts/index.ts",
		test: "scripts/project/test-device.ts",
		"xs-mcp": "scripts/project/xs-mcp-cli.ts",
	});
	await bundleDeclarations(
		{ index: join(ROOT, "src/parts/index.ts"), test: join(ROOT, "scripts/project/test-device.ts") },
		join(target, "types"),
	);
	writeFileSync(join(target, "types", "index.d.ts"), GLOBALS, { flag: "a" });
	writeLicences(target, [...inputs, ...ofPage]);
	finish(folder, target, {
		name: FIRMWARE.name,
		description:
			"An MCP server that runs on the microcontroller, and a virtual device to try it: for a device of your own",
		license: `${license} AND LGPL-3.0-or-later AND OFL-1.1`,
		bin: { "xs-mcp": "bin/xs-mcp.mjs" },
		exports: {
			".": { types: "./types/index.d.ts", default: "./programs/index.js" },
			"./test": { types: "./types/test.d.ts", default: "./programs/test.js" },
			"./package.json": "./package.json",
		},
		dependencies: { esbuild: dependencies.esbuild, typescript: TYPESCRIPT },
		optionalDependencies: { "xs-mcp-gateway": FIRMWARE.version },
	});
}

/** The same of create-xs-mcp. */
export async function packCreate(folder: string): Promise<void> {
	const name = "create-xs-mcp";
	const target = emptied(join(folder, name));
	cpSync(join(ROOT, "scripts/create/template"), join(target, "scripts/create/template"), { recursive: true });
	const inputs = await bundlePrograms(target, { [name]: "scripts/create/create-cli.ts" });
	writeLicences(target, inputs);
	finish(folder, target, {
		name,
		description: "Makes a project for a device of your own, with the firmware xs-mcp",
		license,
		bin: { [name]: `bin/${name}.mjs` },
	});
}

interface PackageJson {
	readonly name: string;
	readonly bin: Readonly<Record<string, string>>;
	readonly [member: string]: unknown;
}

/** Writes what both packages have, and makes the tarball. */
function finish(folder: string, target: string, { name, bin, ...rest }: PackageJson): void {
	mkdirSync(join(target, "bin"));
	for (const [program, path] of Object.entries(bin)) {
		writeFileSync(join(target, path), `#!/usr/bin/env node\nimport "../programs/${program}.js";\n`, { mode: 0o755 });
	}
	const manifest = { name, version: FIRMWARE.version, type: "module", engines, bin, ...rest };
	writeFileSync(join(target, "package.json"), `${JSON.stringify(manifest, undefined, "\t")}\n`);
	copyFileSync(join(ROOT, "LICENSE"), join(target, "LICENSE"));
	copyFileSync(join(ROOT, "scripts", "create", `${name}.md`), join(target, "README.md"));
	const { status } = spawnSync("npm", ["pack", target, "--pack-destination", folder, "--loglevel=error"], {
		stdio: ["ignore", 2, 2],
	});
	if (status !== 0) {
		throw new ProgramError(`npm pack ${name} failed`);
	}
}

/** mcconfig would take the name of an included manifest for the project's. */
function dropName(file: string): void {
	const { build: _, ...manifest } = JSON.parse(readFileSync(file, "utf8"));
	writeFileSync(file, `${JSON.stringify(manifest, undefined, "\t")}\n`);
}

function copyXs(target: string): void {
	const xsnap = dirname(createRequire(import.meta.url).resolve("@agoric/xsnap/package.json"));
	for (const folder of XS) {
		cpSync(join(xsnap, "moddable", "xs", folder), join(target, folder), { recursive: true });
	}
	for (const [file, licence] of Object.entries(XS_LICENCES)) {
		copyFileSync(join(ROOT, "virtual-device", "licences", licence), join(target, file));
	}
	const { version } = readPackage(xsnap);
	writeFileSync(
		join(target, "README.md"),
		`Moddable's XS engine as in @agoric/xsnap ${version}, unchanged. Each file names its licence: LGPL-3.0-or-later (COPYING.LESSER, COPYING), and Apache-2.0 (LICENSE of this package) for what it has of Marvell and Kinoma.\n`,
	);
}

/** Adds the bundled page. @returns the paths of the page's sources */
async function copyMade(target: string): Promise<string[]> {
	writeFileSync(
		join(target, "toolchain/bundle.mjs"),
		'import { fileURLToPath } from "node:url";\n\n' +
			"/** The folder of the virtual device's page. In the repository it is bundled first. */\n" +
			'export const cachedDevicePageBundle = async () => fileURLToPath(new URL("../virtual-device/page/", import.meta.url));\n',
	);
	return await bundleDevicePage(join(target, "virtual-device/page"));
}

/** @returns the paths of the files that were put in */
async function bundlePrograms(target: string, entryPoints: Readonly<Record<string, string>>): Promise<string[]> {
	const { metafile } = await build({
		absWorkingDir: ROOT,
		entryPoints: { ...entryPoints },
		outdir: join(target, "programs"),
		bundle: true,
		splitting: true,
		external: NOT_BUNDLED,
		banner: { js: COMMON_JS },
		plugins: [placed],
		format: "esm",
		platform: "node",
		target: "node20",
		minifyWhitespace: true,
		minifySyntax: true,
		legalComments: "none",
		metafile: true,
		logLevel: "error",
	});
	return inputsOf(metafile);
}

/** A module of the programs finds its files at the place of its source. */
const placed: Plugin = {
	name: "placed",
	setup({ onLoad }) {
		onLoad({ filter: /[\\/](scripts|toolchain|virtual-device|src)[\\/].*\.ts$/ }, ({ path }) => {
			const place = relative(ROOT, path).replaceAll("\\", "/");
			const url = `new URL(${JSON.stringify(`../${place}`)}, import.meta.url).href`;
			return { contents: readFileSync(path, "utf8").replaceAll("import.meta.url", url), loader: "ts" };
		});
	},
};

function inputsOf({ inputs }: Metafile): string[] {
	return Object.keys(inputs).map((path) => resolve(ROOT, path));
}

function emptied(folder: string): string {
	rmSync(folder, { recursive: true, force: true });
	mkdirSync(folder, { recursive: true });
	return folder;
}

interface ReadPackage {
	readonly version: string;
	readonly license: string;
	readonly engines: object;
	readonly dependencies: Readonly<Record<string, string>>;
	readonly devDependencies: Readonly<Record<string, string>>;
}

function readPackage(folder: string): ReadPackage {
	return JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
}
