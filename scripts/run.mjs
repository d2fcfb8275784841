// Runs one of the project's programs: `node scripts/run.mjs file.ts …`. Installs what it needs first, so that
// `npm start` and `npm test` do everything on a fresh clone.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";

/** Poll interval for npm's process, ms. */
const ORPHAN_CHECK_INTERVAL = 200;

const root = fileURLToPath(new URL("..", import.meta.url));

/** Whether node_modules matches the lock file, judged by npm's copy of it in node_modules. */
function isInstalled() {
	const installed = `${root}node_modules/.package-lock.json`;
	if (!existsSync(installed)) {
		return false;
	}
	const wanted = JSON.parse(readFileSync(`${root}package-lock.json`, "utf8")).packages;
	const present = JSON.parse(readFileSync(installed, "utf8")).packages;
	return Object.entries(wanted).every(
		([path, entry]) =>
			path === "" ||
			entry.link ||
			entry.optional ||
			!path.includes("node_modules/") ||
			present[path]?.version === entry.version,
	);
}

if (!isInstalled()) {
	console.error("Installing what the project needs, once …");
	const { status } = spawnSync("npm", ["ci", "--loglevel=error"], {
		cwd: root,
		stdio: ["ignore", 2, 2],
		shell: process.platform === "win32",
	});
	if (status !== 0) {
		process.exit(status ?? 1);
	}
}

const [program, ...rest] = process.argv.slice(2);
const path = `${root}${program}`;

/** npm forwards a signal to its shell, which ends and orphans this process. */
function endWithNpm(end) {
	const parent = process.ppid;
	if (process.env.npm_lifecycle_event !== undefined) {
		setInterval(() => process.ppid !== parent && end(), ORPHAN_CHECK_INTERVAL).unref();
	}
}

if (program.endsWith(".ts")) {
	const args = ["--import", new URL("register.mjs", import.meta.url).href, path, ...rest];
	const child = spawn(process.execPath, args, { stdio: "inherit" });
	for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
		process.on(signal, () => child.kill(signal));
	}
	endWithNpm(() => child.kill("SIGTERM"));
	child.on("exit", (code, signal) => process.exit(signal === null ? code : 1));
} else {
	// A program that needs no loader runs in this process: a second one would take another 40 MB.
	process.argv.splice(1, 2, path);
	endWithNpm(() => process.kill(process.pid, "SIGTERM"));
	await import(pathToFileURL(path).href);
}
