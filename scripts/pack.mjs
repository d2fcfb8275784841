// npm run pack:gateway [FOLDER], and likewise pack:manager and pack:pi: makes the package in FOLDER/package, and a tarball
// beside it.
// Not a prepack script: those do not run in this repository (.npmrc), and what is published is not what lies here.
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Argument, Command } from "commander";
import { bundle } from "./bundle.mjs";

const root = fileURLToPath(new URL("../", import.meta.url));
/** Examples and schema of the file of servers. */
const SERVERS_FILES = ["mcp-manager/mcp-servers.schema.json", "mcp-manager/mcp-servers.json.example"];
const PACKAGES = {
	gateway: {
		exports: { ".": "index", "./manager": "manager" },
		files: [],
	},
	"mcp-manager": {
		exports: { ".": "manager/index", "./core": "core/index", "./proxy": "proxy/index" },
		files: SERVERS_FILES,
	},
	/** Not a library: pi loads it as a file. The manager is bundled, so that it has no dependencies. */
	"integrations/pi": {
		exports: {},
		files: SERVERS_FILES,
		isWhole: true,
	},
};

const program = new Command("pack.mjs")
	.description("Makes a package to be published, and a tarball of it.")
	.addArgument(new Argument("<package>", "its folder").choices(Object.keys(PACKAGES)))
	.argument("[folder]", "where it is made (default: PACKAGE/dist)")
	.parse();
const [name, given = `${name}/dist`] = program.processedArgs;
const folder = resolve(root, given);
const target = `${folder}/package`;
const { exports, files, isWhole = false } = PACKAGES[name];
const manifest = manifestOf(name);
const { engines, dependencies } = isWhole ? manifestOf("mcp-manager") : manifest;

const PROGRAM = `#!/usr/bin/env node
import { runCommandLine } from "../cli.js";

await runCommandLine(process.argv.slice(2));
`;

/** tsc's options for the library's declarations: those of tsconfig.node.json. */
const DECLARATIONS =
	"--ignoreConfig --declaration --emitDeclarationOnly --strict --exactOptionalPropertyTypes --skipLibCheck " +
	"--verbatimModuleSyntax --noUncheckedIndexedAccess --target ES2022 --lib ES2022 --module NodeNext --types node";

function manifestOf(source) {
	return JSON.parse(readFileSync(`${root}${source}/package.json`, "utf8"));
}

function run(command, args) {
	const { status, error } = spawnSync(command, args, { cwd: root, stdio: ["ignore", 2, 2] });
	if (status !== 0) {
		throw new Error(`${command} ${args[0]} failed`, { cause: error });
	}
}

/** The file of an export in the bundle: `core` for `core/index`, and `index` for the package itself. */
function bundledName(path) {
	return path === "." ? "index" : path.slice("./".length);
}

function writePackageJson() {
	const { version, description, license, type, keywords, pi, bin } = manifest;
	const published = {
		name: manifest.name,
		version,
		description,
		license,
		type,
		keywords,
		engines,
		bin,
		pi: pi && { extensions: pi.extensions.map((path) => path.replace(/\.ts$/, ".js")) },
		exports: isWhole
			? undefined
			: Object.fromEntries(
					Object.entries(exports).map(([path, source]) => [
						path,
						{ types: `./types/${name}/src/${source}.d.ts`, default: `./${bundledName(path)}.js` },
					]),
				),
		dependencies,
	};
	writeFileSync(`${target}/package.json`, `${JSON.stringify(published, undefined, "\t")}\n`);
}

function writeDeclarations() {
	run(process.execPath, [
		`${root}node_modules/typescript/bin/tsc`,
		...DECLARATIONS.split(" "),
		"--rootDir",
		root,
		"--outDir",
		`${target}/types`,
		...Object.values(exports).map((source) => `${root}${name}/src/${source}.ts`),
	]);
}

rmSync(target, { recursive: true, force: true });
mkdirSync(`${target}/bin`, { recursive: true });
await bundle(name, target, { isWhole });
for (const path of Object.values(manifest.bin ?? {})) {
	writeFileSync(`${target}/${path}`, PROGRAM, { mode: 0o755 });
}
writePackageJson();
copyFileSync(`${root}LICENSE`, `${target}/LICENSE`);
for (const file of [`${name}/README.md`, ...files]) {
	copyFileSync(root + file, `${target}/${basename(file)}`);
}
if (!isWhole) {
	writeDeclarations();
}
run("npm", ["pack", target, "--pack-destination", folder, "--loglevel=error"]);
