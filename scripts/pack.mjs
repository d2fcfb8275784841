// npm run pack:gateway [FOLDER], pack:manager and pack:pi: makes a tarball in FOLDER.
// Not a prepack script: those do not run in this repository (.npmrc), and what is published is not what lies here. The sources'
// package.json have no version, so that npm pack and npm publish refuse there.
import { spawnSync } from "node:child_process";
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Argument, Command } from "commander";
import { bundle, NOT_BUNDLED } from "../toolchain/bundle.mjs";
import { bundleDeclarations } from "./declarations.mjs";
import { projectVersion, writeLicences, writePages, writePrograms } from "./package-files.mjs";

const root = fileURLToPath(new URL("../", import.meta.url));
/** Examples and schema of the file of servers. */
const SERVERS_FILES = ["mcp-manager/mcp-servers.schema.json", "mcp-manager/mcp-servers.json.example"];
/** The files that docs/gateway/operation.md copies. */
const DEPLOY_FILES = ["xs-mcp-gateway.service", "alerts.yml", "grafana-dashboard.json"];
/** The pages about the gateway, at their places in this repository. */
const GATEWAY_PAGES = [
	...readdirSync(`${root}docs/gateway`).map((page) => `docs/gateway/${page}`),
	"docs/mcp-servers.md",
];
const PACKAGES = {
	gateway: {
		exports: { ".": "index", "./manager": "manager" },
		files: DEPLOY_FILES.map((file) => `gateway/deploy/${file}`),
		pages: GATEWAY_PAGES,
	},
	"mcp-manager": {
		exports: { ".": "manager/index", "./core": "core/index", "./proxy": "proxy/index" },
		files: SERVERS_FILES,
	},
	/** Not a library: pi loads it as a file. */
	"integrations/pi": {
		exports: {},
		files: SERVERS_FILES,
	},
};

const program = new Command("pack.mjs")
	.description("Makes the tarball of a package to be published.")
	.addArgument(new Argument("<package>", "its folder").choices(Object.keys(PACKAGES)))
	.argument("[folder]", "where it is made (default: PACKAGE/dist)")
	.parse();
const [name, given = `${name}/dist`] = program.processedArgs;
const folder = resolve(root, given);
const target = `${folder}/package`;
const { exports, files, pages = [] } = PACKAGES[name];
const manifest = manifestOf(name);
const manager = manifestOf("mcp-manager");
const { engines } = manager;
const dependencies = pick(manager.dependencies, NOT_BUNDLED);

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

function pick(object, names) {
	return Object.fromEntries(names.map((name) => [name, object[name]]));
}

function writePackageJson() {
	const { description, mcpName, homepage, repository, license, type, keywords, pi, bin } = manifest;
	const published = {
		name: manifest.name,
		version: projectVersion(),
		description,
		mcpName,
		homepage,
		repository,
		license,
		type,
		keywords,
		engines,
		bin,
		pi: pi && { extensions: pi.extensions.map((path) => path.replace(/\.ts$/, ".js")) },
		exports:
			Object.keys(exports).length === 0
				? undefined
				: Object.fromEntries(
						Object.keys(exports).map((path) => [
							path,
							{ types: `./types/${bundledName(path)}.d.ts`, default: `./${bundledName(path)}.js` },
						]),
					),
		dependencies,
		optionalDependencies: manifest.optionalDependencies,
	};
	writeFileSync(`${target}/package.json`, `${JSON.stringify(published, undefined, "\t")}\n`);
}

rmSync(target, { recursive: true, force: true });
const inputs = await bundle(name, target, { sourcemap: false });
writePrograms(target, manifest);
writePages(
	target,
	{ "README.md": `${name}/README.md`, ...Object.fromEntries(pages.map((page) => [page, page])) },
	manifest.repository,
);
for (const file of files) {
	copyFileSync(root + file, `${target}/${basename(file)}`);
}
if (Object.keys(exports).length > 0) {
	const sources = Object.entries(exports).map(([path, file]) => [bundledName(path), `${root}${name}/src/${file}.ts`]);
	await bundleDeclarations(Object.fromEntries(sources), `${target}/types`);
}
writeLicences(target, inputs);
writePackageJson();
run("npm", ["pack", target, "--pack-destination", folder, "--loglevel=error"]);
rmSync(target, { recursive: true });
