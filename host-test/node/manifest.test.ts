import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { it } from "node:test";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Run once the machine is up: they open what is not there in the linker. */
const NOT_PRELOADED = /^(boards\/.*|main)$/;

interface Manifest {
	readonly modules: Readonly<Record<string, string | readonly string[]>>;
	readonly preload?: readonly string[];
}

const readManifest = (path: string): Manifest => JSON.parse(readFileSync(`${ROOT}${path}`, "utf8"));
const root = readManifest("manifest.json");
const boardManifests = readdirSync(`${ROOT}src/boards`)
	.filter((name) => name.endsWith(".json"))
	.map((name) => readManifest(`src/boards/${name}`));

const modules = readdirSync(`${ROOT}src`, { recursive: true, encoding: "utf8" })
	.filter((name) => name.endsWith(".ts"))
	.map((name) => name.slice(0, -".ts".length));
const preloadable = modules.filter((name) => !NOT_PRELOADED.test(name)).sort();

/** Modules that only some boards have: their manifests name each. */
const isBoards = (name: string): boolean => /^(drivers\/|platform\/wifi)/.test(name);

it("manifest.json preloads every module that all boards have, and none that is gone", () => {
	assert.deepEqual(
		[...(root.preload ?? [])].sort(),
		preloadable.filter((name) => !isBoards(name)),
	);
});

it("the boards' manifests name and preload every driver, each once", () => {
	const preloads = boardManifests.flatMap(({ preload = [] }) => preload).sort();
	const named = boardManifests
		.flatMap(({ modules }) => Object.entries(modules).filter(([key]) => key.endsWith("/*")))
		.flatMap(([, paths]) => paths)
		.map((path) => path.replace("../", ""))
		.sort();
	assert.deepEqual(preloads, preloadable.filter(isBoards));
	assert.deepEqual(named, preloads);
});

it("manifest.json names every folder of the firmware", () => {
	for (const name of preloadable.filter((each) => each.includes("/") && !isBoards(each))) {
		const folder = name.split("/")[0];
		const paths = root.modules[`${folder}/*`] ?? [];
		assert.ok(
			[`./src/${folder}/*`, `./src/${name}`].some((path) => [paths].flat().includes(path)),
			name,
		);
	}
});
