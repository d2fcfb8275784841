// npm run test:pi: installs pi here once, packs the manager, checks the types and runs the tests. Not part of `npm test`: pi
// has 190 packages of 200 MB. Nothing but npm talks to another computer.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const folder = `${root}integrations/pi`;
const packed = `${root}.cache/pi`;

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
	const installed = `${folder}/${path}/package.json`;
	const { packages } = JSON.parse(readFileSync(`${folder}/package-lock.json`, "utf8"));
	return existsSync(installed) && JSON.parse(readFileSync(installed, "utf8")).version === packages[path].version;
}

if (!isInstalled()) {
	run("npm", ["ci", "--loglevel=error"], folder);
}
// As a person has it who installs both packages; the manager's dependencies are those of this repository.
run(process.execPath, [`${root}scripts/pack.mjs`, "mcp-manager", packed]);
const link = `${folder}/node_modules/xs-mcp-manager`;
rmSync(link, { recursive: true, force: true });
mkdirSync(`${folder}/node_modules`, { recursive: true });
symlinkSync(`${packed}/package`, link, "junction");
run(process.execPath, [`${root}node_modules/typescript/bin/tsc`, "-p", folder]);
run(process.execPath, ["--import", `${root}scripts/register.mjs`, "--test", `${folder}/test/mcp-client.test.ts`]);
