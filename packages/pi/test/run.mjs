// npm test in packages/pi: what --help says. Not part of `npm test`: pi has 190 packages of 200 MB.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Command } from "commander";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const folder = `${root}packages/pi`;
const packed = `${root}.cache/pi`;
const installed = `${packed}/installed`;

/** Its package: the pinned one has another name. */
const NEWEST = "@earendil-works/pi-coding-agent";

const { testNamePattern, newest } = new Command("npm test --")
	.description(
		"Test the extension for pi: installs pi (200 MB, once) and the packed extension from npm, as a person does, and has pi's " +
			"command line use it with a scripted model on loopback.",
	)
	.option("--newest [version]", `The successor of pi, ${NEWEST} (default: latest), on this Node and on Node 22`)
	.option("--test-name-pattern <pattern>", "Only the tests whose names match")
	.helpOption("-h, --help", "Show help")
	.parse()
	.opts();

function run(command, args, cwd = root, environment = {}) {
	const env = { ...process.env, ...environment };
	const { status, error } = spawnSync(command, args, { cwd, env, stdio: ["ignore", 2, 2] });
	if (status !== 0) {
		console.error(`${command} ${args.join(" ")} failed`, error ?? "");
		process.exit(status || 1);
	}
}

/** Whether the version of pi that the lock file names is installed. */
function isInstalled() {
	const path = "node_modules/@mariozechner/pi-coding-agent";
	const manifest = `${folder}/${path}/package.json`;
	const { packages } = JSON.parse(readFileSync(`${folder}/package-lock.json`, "utf8"));
	return existsSync(manifest) && JSON.parse(readFileSync(manifest, "utf8")).version === packages[path].version;
}

/** Installs the newest pi and Node 22, and returns each Node that can run it. */
function installNewest() {
	const place = `${packed}/newest`;
	mkdirSync(place, { recursive: true });
	writeFileSync(`${place}/package.json`, '{ "private": true }\n');
	const version = newest === true ? "latest" : newest;
	run("npm", ["install", "--ignore-scripts", "--loglevel=error", `${NEWEST}@${version}`], place);
	// The package "node" installs its program with a script.
	run("npm", ["install", "--ignore-scripts=false", "--loglevel=error", "node@22"], place);
	const program = `${place}/node_modules/${NEWEST}/dist/cli.js`;
	return [process.execPath, `${place}/node_modules/node/bin/node`].flatMap((node) => {
		const { status, stdout, stderr } = spawnSync(node, [program, "--version"], { encoding: "utf8" });
		const shown = spawnSync(node, ["--version"], { encoding: "utf8" }).stdout.trim();
		if (status !== 0) {
			console.error(`skipped on Node ${shown}: pi does not start there: ${/^\w*Error.*$/m.exec(stderr)?.[0]}`);
			return [];
		}
		console.error(`pi ${(stdout || stderr).trim()} on Node ${shown}`);
		return [{ PI_PROGRAM: program, PI_NODE: node }];
	});
}

function installPinned() {
	if (!isInstalled()) {
		run("npm", ["ci", "--loglevel=error"], folder);
	}
	return [{}];
}

// The types are those of the pinned one.
const pinned = installPinned();
const places = newest ? installNewest() : pinned;
run(process.execPath, [`${root}node_modules/typescript/bin/tsc`, "-p", folder]);
run("npm", ["run", "pack", "--", "packages/pi", "--to", packed]);
rmSync(installed, { recursive: true, force: true });
mkdirSync(installed, { recursive: true });
run("npm", [
	"install",
	"--prefix",
	installed,
	"--prefer-offline",
	"--loglevel=error",
	`${packed}/${readdirSync(packed).find((name) => name.endsWith(".tgz"))}`,
]);
const only = testNamePattern === undefined ? [] : [`--test-name-pattern=${testNamePattern}`];
const test = `${folder}/test/mcp-client.test.ts`;
for (const place of places) {
	run(
		process.execPath,
		["--import", pathToFileURL(`${root}tools/register.mjs`).href, "--test", ...only, test],
		root,
		place,
	);
}
if (places.length === 0) {
	console.error("no Node here runs this pi: nothing was tested");
	process.exitCode = 1;
}
