// Runs one of the project's programs: `node tools/run.mjs [--omit=dev] file.ts …`. Installs what it needs first, so that
// `npm start` and `npm test` do everything on a fresh clone.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";

/** As for npm: the program needs no packages for development. */
const OMIT_DEV = "--omit=dev";

/** ts-node's use of APIs that Node 24 and 26 call deprecated. */
const QUIET = ["--disable-warning=DEP0180", "--disable-warning=DEP0205"];

/** Poll interval for npm's process, ms. */
const ORPHAN_CHECK_INTERVAL = 200;

const root = fileURLToPath(new URL("..", import.meta.url));
const omitsDev = process.argv[2] === OMIT_DEV;
const [program, ...rest] = process.argv.slice(omitsDev ? 3 : 2);
const path = `${root}${program}`;

installMissing();
if (program.endsWith(".ts")) {
	const args = [...QUIET, "--import", new URL("register.mjs", import.meta.url).href, path, ...rest];
	const child = spawn(process.execPath, args, { stdio: "inherit" });
	for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
		process.on(signal, () => child.kill(signal));
	}
	endWithNpm(() => child.kill("SIGTERM"));
	child.on("exit", (code, signal) => process.exit(signal === null ? code : 1));
} else {
	// A program that needs no loader runs in this process: a second one would take another 40 MB.
	process.argv.splice(1, process.argv.length - 1, path, ...rest);
	endWithNpm(() => process.kill(process.pid, "SIGTERM"));
	await import(pathToFileURL(path).href);
}

/** Installs what package-lock.json names, unless npm's copy of it in node_modules has it. Keeps packages for development. */
function installMissing() {
	const present = packagesOf(`${root}node_modules/.package-lock.json`);
	const omits = omitsDev && !present.some(([, { dev }]) => dev);
	// A link has no version, but a folder.
	const versions = new Map(present.map(([place, { version, resolved }]) => [place, version ?? resolved]));
	const wanted = packagesOf(`${root}package-lock.json`).filter(
		([place, { optional, dev, devOptional }]) =>
			place.includes("node_modules/") && !optional && !(omits && (dev || devOptional)),
	);
	if (wanted.some(([place, { version, resolved }]) => versions.get(place) !== (version ?? resolved))) {
		console.error(`Installing ${wanted.length} packages, once …`);
		const { status } = spawnSync("npm", ["ci", ...(omits ? [OMIT_DEV] : []), "--loglevel=error"], {
			cwd: root,
			stdio: ["ignore", 2, 2],
			shell: process.platform === "win32",
		});
		if (status !== 0) {
			process.exit(status ?? 1);
		}
	}
}

/** The packages of a lock file, by their paths. */
function packagesOf(lock) {
	return existsSync(lock) ? Object.entries(JSON.parse(readFileSync(lock, "utf8")).packages) : [];
}

/** npm forwards a signal to its shell, which ends and orphans this process. */
function endWithNpm(end) {
	const parent = process.ppid;
	if (process.env.npm_lifecycle_event !== undefined) {
		setInterval(() => process.ppid !== parent && end(), ORPHAN_CHECK_INTERVAL).unref();
	}
}
