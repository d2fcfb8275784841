// npm run pack:gateway [FOLDER]: makes the package in FOLDER/package, and a tarball of it beside that, to be published.
// Not a prepack script: those do not run in this repository (.npmrc), and what is published is not what lies here.
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Command } from "commander";
import { bundleGateway } from "./bundle.mjs";

const root = fileURLToPath(new URL("../", import.meta.url));
const program = new Command("npm run pack:gateway --")
	.description("Makes the package to be published, and a tarball of it.")
	.argument("[folder]", "where it is made", "gateway/dist")
	.parse();
const folder = resolve(root, program.processedArgs[0]);
const target = `${folder}/package`;

const PROGRAM = `#!/usr/bin/env node
import { runCommandLine } from "../cli.js";

await runCommandLine(process.argv.slice(2));
`;

/** tsc's options for the library's declarations: those of tsconfig.node.json. */
const DECLARATIONS = [
	...["--ignoreConfig", "--declaration", "--emitDeclarationOnly", "--strict", "--exactOptionalPropertyTypes"],
	...["--skipLibCheck", "--verbatimModuleSyntax", "--noUncheckedIndexedAccess"],
	...["--target", "ES2022", "--lib", "ES2022", "--module", "NodeNext", "--types", "node"],
];

function run(command, args) {
	const { status, error } = spawnSync(command, args, { cwd: root, stdio: ["ignore", 2, 2] });
	if (status !== 0) {
		throw new Error(`${command} ${args[0]} failed`, { cause: error });
	}
}

function writePackageJson() {
	const { name, version, description, license, type, engines, dependencies } = JSON.parse(
		readFileSync(`${root}gateway/package.json`, "utf8"),
	);
	const published = {
		...{ name, version, description, license, type, engines },
		bin: { [name]: "bin/xs-mcp-gateway.mjs" },
		exports: {
			".": { types: "./types/gateway/src/index.d.ts", default: "./index.js" },
			"./manager": { types: "./types/gateway/src/manager/index.d.ts", default: "./manager.js" },
		},
		dependencies,
	};
	writeFileSync(`${target}/package.json`, `${JSON.stringify(published, undefined, "\t")}\n`);
}

rmSync(target, { recursive: true, force: true });
mkdirSync(`${target}/bin`, { recursive: true });
await bundleGateway(target);
writeFileSync(`${target}/bin/xs-mcp-gateway.mjs`, PROGRAM, { mode: 0o755 });
writePackageJson();
copyFileSync(`${root}LICENSE`, `${target}/LICENSE`);
copyFileSync(`${root}gateway/README.md`, `${target}/README.md`);
for (const name of ["mcp-servers.schema.json", "mcp-servers.json.example"]) {
	copyFileSync(`${root}gateway/${name}`, `${target}/${name}`);
}
run(process.execPath, [
	`${root}node_modules/typescript/bin/tsc`,
	...DECLARATIONS,
	...["--rootDir", root, "--outDir", `${target}/types`],
	...[`${root}gateway/src/index.ts`, `${root}gateway/src/manager/index.ts`],
]);
run("npm", ["pack", target, "--pack-destination", folder, "--loglevel=error"]);
