// npm run test:pi: what --help says. Not part of `npm test`: pi has 190 packages of 200 MB.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Command } from "commander";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const folder = `${root}integrations/pi`;
const packed = `${root}.cache/pi`;
const installed = `${packed}/installed`;

const { testNamePattern } = new Command("npm run test:pi --")
	.description(
		"Test the extension for pi: installs pi (200 MB, once) and the packed extension from npm, as a person does, and has pi's " +
			"command line use it with a scripted model on loopback.",
	)
	.option("--test-name-pattern <pattern>", "Only the tests whose names match")
	.helpOption("-h, --help", "Show help")
	.parse()
	.opts();

function run(command, args, cwd = root) {
	const { status, error } = spawnSync(command, args, { cwd, stdio: ["ignore", 2, 2] });
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

if (!isInstalled()) {
	run("npm", ["ci", "--loglevel=error"], folder);
}
run(process.execPath, [`${root}node_modules/typescript/bin/tsc`, "-p", folder]);
run(process.execPath, [`${root}scripts/pack.mjs`, "integrations/pi", packed]);
const { name, version } = JSON.parse(readFileSync(`${packed}/package/package.json`, "utf8"));
rmSync(installed, { recursive: true, force: true });
mkdirSync(installed, { recursive: true });
run("npm", [
	"install",
	"--prefix",
	installed,
	"--prefer-offline",
	"--loglevel=error",
	`${packed}/${name}-${version}.tgz`,
]);
const only = testNamePattern === undefined ? [] : [`--test-name-pattern=${testNamePattern}`];
const test = `${folder}/test/mcp-client.test.ts`;
run(process.execPath, ["--import", `${root}scripts/register.mjs`, "--test", ...only, test]);
