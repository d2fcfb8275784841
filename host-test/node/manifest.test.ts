import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { it } from "node:test";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Run once the machine is up: they open what is not there in the linker. */
const NOT_PRELOADED = /^src\/(boards\/.*|main)$/;

/** The one board that is not built with mcconfig. */
const VIRTUAL_BOARD = "virtual";

interface Manifest {
	readonly include?: string | readonly string[];
	readonly modules?: Readonly<Record<string, string | readonly string[]>>;
	readonly preload?: string | readonly string[];
	readonly platforms?: Readonly<Record<string, { readonly include?: string }>>;
}

const readManifest = (path: string): Manifest => JSON.parse(readFileSync(`${ROOT}${path}`, "utf8"));

/** The paths of the firmware's manifests: its own, and those of its folders, parts and boards. */
const manifests = [
	"manifest.json",
	...filesOf("src")
		.filter((name) => name.endsWith("manifest.json"))
		.map((name) => `src/${name}`),
];
const preloadable = filesOf("src")
	.filter((name) => /(?<!\.d)\.ts$/.test(name))
	.map((name) => `src/${name.slice(0, -".ts".length)}`)
	.filter((name) => !NOT_PRELOADED.test(name));

function filesOf(folder: string): string[] {
	return readdirSync(`${ROOT}${folder}`, { recursive: true, encoding: "utf8" });
}

/** What a manifest names of the firmware's modules, as paths in the repository. */
function modulesNamedBy(path: string): string[] {
	const { modules = {} } = readManifest(path);
	return Object.entries(modules)
		.filter(([key]) => key.startsWith("src/") && !NOT_PRELOADED.test(key))
		.flatMap(([key, files]) => [files].flat().flatMap((file) => resolveModules(path, key, file)));
}

/** @param file as the manifest has it, relative to its folder: one module, or a folder's with "*" */
function resolveModules(path: string, key: string, file: string): string[] {
	const module = join(dirname(path), file);
	assert.equal(dirname(module), dirname(key), `${path}: ${file} has a name that is not its path`);
	if (basename(module) !== "*") {
		assert.ok(basename(key) === "*" || module === key, `${path}: ${file} has a name that is not its path`);
		return [module];
	}
	return preloadable.filter((name) => dirname(name) === dirname(module));
}

for (const path of manifests) {
	it(`${path} preloads the modules of the firmware that it names, and no other`, () => {
		const preloaded = [readManifest(path).preload ?? []].flat().filter((name) => name.startsWith("src/"));
		assert.deepEqual([...preloaded].sort(), modulesNamedBy(path).sort());
	});
}

it("a manifest includes no other twice", () => {
	for (const path of manifests) {
		const included = [readManifest(path).include ?? []].flat();
		assert.deepEqual(included, [...new Set(included)], path);
	}
});

it("every module of the firmware is named by a manifest", () => {
	const named = new Set(manifests.flatMap(modulesNamedBy));
	assert.deepEqual(
		preloadable.filter((name) => !named.has(name)),
		[],
	);
});

it("what only some boards have is in no manifest that every build includes", () => {
	const shared = ["manifest.json", "src/manifest.json"].flatMap(modulesNamedBy);
	assert.deepEqual(
		shared.filter((name) => name.startsWith("src/drivers/")),
		[],
	);
});

it("a manifest that chooses the chunk heap tells the firmware its size", () => {
	for (const path of manifests) {
		const { config, creation } = JSON.parse(readFileSync(`${ROOT}${path}`, "utf8"));
		assert.equal(config?.chunkBytes, creation?.chunk?.initial, path);
	}
});

it("manifest.json has a platform for every board", () => {
	const { platforms = {} } = readManifest("manifest.json");
	const included = new Set(Object.values(platforms).map(({ include }) => include));
	const boards = readdirSync(`${ROOT}src/boards`).filter((name) => name !== VIRTUAL_BOARD);
	assert.deepEqual([...included].sort(), boards.map((name) => `./src/boards/${name}/manifest.json`).sort());
});

it("a board's manifest gives its modules names as deep as its folder, because its imports are resolved against them", () => {
	for (const board of readdirSync(`${ROOT}src/boards`).filter((name) => name !== VIRTUAL_BOARD)) {
		const { modules = {} } = readManifest(`src/boards/${board}/manifest.json`);
		assert.equal(modules["src/boards/target/board"], "./board", board);
	}
});
