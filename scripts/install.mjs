// Installs the packages that `npm start` needs, and the rest when a program needs it: `npm test`, for example.
import { spawn } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";

/** Interval of the lines that show the progress, ms. */
const PROGRESS_INTERVAL = 3_000;

/** The packages of a lock file, by their paths. */
function readPackages(path) {
	return Object.entries(JSON.parse(readFileSync(path, "utf8")).packages);
}

/**
 * Installs what package-lock.json names, unless node_modules has it already. npm's copy of the lock file in node_modules tells.
 *
 * @param root the repository's folder, with a slash at its end
 * @param omitsDev whether packages for development are not needed. What has them already keeps them
 * @returns npm's exit code, 0 if there was nothing to do
 */
export async function installMissing(root, omitsDev) {
	const lock = `${root}node_modules/.package-lock.json`;
	const present = existsSync(lock) ? readPackages(lock) : [];
	const omits = omitsDev && !present.some(([, { dev }]) => dev);
	const wanted = readPackages(`${root}package-lock.json`).filter(
		([path, { link, optional, dev, devOptional }]) =>
			path.includes("node_modules/") && !link && !optional && !(omits && (dev || devOptional)),
	);
	const versions = new Map(present.map(([path, { version }]) => [path, version]));
	if (wanted.every(([path, { version }]) => versions.get(path) === version)) {
		return 0;
	}
	console.error(`Installing ${wanted.length} packages, once …`);
	const paths = wanted.map(([path]) => `${root}${path}/package.json`);
	return await runNpm(root, omits ? ["--omit=dev"] : [], paths);
}

/** @param paths files that exist once their packages are installed */
async function runNpm(root, options, paths) {
	const npm = spawn("npm", ["ci", ...options, "--loglevel=error"], {
		cwd: root,
		stdio: ["ignore", 2, 2],
		shell: process.platform === "win32",
	});
	const started = Date.now();
	let shown = 0;
	const progress = setInterval(() => {
		// npm removes what an earlier installation has left.
		const count = paths.filter((path) => (statSync(path, { throwIfNoEntry: false })?.ctimeMs ?? 0) > started).length;
		if (count > shown) {
			console.error(`  ${count} of ${paths.length} packages`);
			shown = count;
		}
	}, PROGRESS_INTERVAL);
	try {
		return await new Promise((resolve, reject) => {
			npm.on("error", reject);
			npm.on("close", (code) => resolve(code ?? 1));
		});
	} finally {
		clearInterval(progress);
	}
}
