import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { it } from "node:test";
import { fileURLToPath } from "node:url";

const SOURCE = fileURLToPath(new URL("../../src/", import.meta.url));

/** Run once the machine is up: they open what is not there in the linker. */
const NOT_PRELOADED = /^(boards\/.*|main)$/;

/** Modules that not every build has: the root manifest and the boards' manifests name each. */
const CHOSEN = /^(drivers|platform)\//;

interface Manifest {
	readonly modules?: Readonly<Record<string, string | readonly string[]>>;
	readonly preload?: readonly string[];
}

const readManifest = (path: string): Manifest => JSON.parse(readFileSync(`${SOURCE}${path}`, "utf8"));

const modules = readdirSync(SOURCE, { recursive: true, encoding: "utf8" })
	.filter((name) => name.endsWith(".ts"))
	.map((name) => name.slice(0, -".ts".length));
const preloadable = modules.filter((name) => !NOT_PRELOADED.test(name)).sort();

it("src/manifest.json preloads every module that needs no platform, under the name of its file, and none that is gone", () => {
	const { preload = [] } = readManifest("manifest.json");
	const names = preloadable.filter((name) => !CHOSEN.test(name)).map((name) => `src/${name}`);
	assert.deepEqual([...preload].sort(), names);
});

it("manifest.json tells the firmware the size of the chunk heap that it gives it", () => {
	const { config, creation } = JSON.parse(readFileSync(`${SOURCE}../manifest.json`, "utf8"));
	assert.equal(config.chunkBytes, creation.chunk.initial);
});

it("src/manifest.json names every folder that needs no platform", () => {
	const { modules: named = {} } = readManifest("manifest.json");
	for (const name of preloadable.filter((each) => !CHOSEN.test(each))) {
		const key = name.includes("/") ? `${name.split("/")[0]}/*` : name;
		assert.equal(named[`src/${key}`], `./${key}`, name);
	}
});

it("the other manifests name and preload every driver and every part of the platform, each once", () => {
	const boards = readdirSync(`${SOURCE}boards`).filter((name) => name.endsWith(".manifest.json"));
	const manifests = ["../manifest.json", ...boards.map((name) => `boards/${name}`)].map(readManifest);
	const preloaded = manifests.flatMap(({ preload = [] }) => preload);
	const named = manifests
		.flatMap((manifest) => Object.entries(manifest.modules ?? {}).filter(([key]) => key.endsWith("/*")))
		.flatMap(([, paths]) => paths)
		.map((path) => path.replace(/^(\.\.\/|\.\/src\/)/, "src/"));
	assert.deepEqual(named.sort(), [...preloaded].sort());
	assert.deepEqual(
		preloaded.sort(),
		preloadable.filter((name) => CHOSEN.test(name)).map((name) => `src/${name}`),
	);
});
