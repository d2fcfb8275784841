// Bundles the gateway: for the program in this repository (bin/), and for the package (pack.mjs).
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));
const cache = `${root}.cache/gateway`;

/** What a bundle is made of, or how. */
const SOURCES = ["gateway/src", "src", "gateway/bundle.mjs", "package-lock.json"];

/** Milliseconds after which a bundle of other sources is removed: nobody runs it any more. */
const KEPT = 86_400_000;

/**
 * Puts the program (`cli.js`) and the library (`index.js`) into a few files each, together with what they use of the
 * firmware's sources. Node finds the libraries in the node_modules above the folder.
 */
export async function bundleGateway(folder) {
	const { build } = await import("esbuild");
	await build({
		absWorkingDir: `${root}gateway`,
		entryPoints: {
			cli: "src/cli/command-line.ts",
			index: "src/index.ts",
			manager: "src/manager/index.ts",
			"validation-worker": "src/core/validation-worker.ts",
		},
		outdir: folder,
		bundle: true,
		packages: "external",
		splitting: true,
		format: "esm",
		platform: "node",
		target: "node20",
		sourcemap: true,
		logLevel: "error",
	});
}

/** Bundles the sources as they are now, unless that was done before. Resolves with the URL of `cli.js`. */
export async function cachedBundle() {
	const folder = `${cache}/${hashOfSources()}`;
	if (!existsSync(folder)) {
		const temporary = `${folder}.${process.pid}`;
		await bundleGateway(temporary);
		try {
			renameSync(temporary, folder);
		} catch {
			// Another process was faster.
			rmSync(temporary, { recursive: true });
		}
		removeOld();
	}
	return pathToFileURL(`${folder}/cli.js`).href;
}

function hashOfSources() {
	const hash = createHash("sha256");
	for (const source of SOURCES) {
		for (const path of filesIn(`${root}${source}`)) {
			hash.update(`${path}\0`).update(readFileSync(path));
		}
	}
	return hash.digest("hex").slice(0, 16);
}

function filesIn(path) {
	return statSync(path).isDirectory()
		? readdirSync(path, { recursive: true, encoding: "utf8" })
				.filter((name) => name.endsWith(".ts"))
				.sort()
				.map((name) => `${path}/${name}`)
		: [path];
}

function removeOld() {
	for (const name of readdirSync(cache)) {
		const folder = `${cache}/${name}`;
		if (Date.now() - statSync(folder).mtimeMs > KEPT) {
			rmSync(folder, { recursive: true, force: true });
		}
	}
}
