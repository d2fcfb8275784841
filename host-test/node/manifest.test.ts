import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { it } from "node:test";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Run once the machine is up: they open what is not there in the linker. */
const NOT_PRELOADED = /^(boards\/.*|main)$/;

/** The one board that is not built with mcconfig. */
const VIRTUAL_BOARD = "virtual";

interface Manifest {
	readonly modules?: Readonly<Record<string, string | readonly string[]>>;
	readonly preload?: readonly string[];
	readonly platforms?: Readonly<Record<string, { readonly include?: string }>>;
}

const readManifest = (path: string): Manifest => JSON.parse(readFileSync(`${ROOT}${path}`, "utf8"));

const modules = readdirSync(`${ROOT}src`, { recursive: true, encoding: "utf8" })
	.filter((name) => /(?<!\.d)\.ts$/.test(name))
	.map((name) => name.slice(0, -".ts".length));
const preloadable = modules.filter((name) => !NOT_PRELOADED.test(name)).sort();
const isPlatform = (name: string): boolean => name.startsWith("platform/");
/** What a firmware includes only if it imports it. */
const isOptional = (name: string): boolean => /^(http_server|mcp_features|resources|prompts|setup)\//.test(name);
const isCore = (name: string): boolean => !isPlatform(name) && !isOptional(name);

it("src/manifest.json preloads every module that every firmware has and that needs no platform, and no other", () => {
	const { preload = [] } = readManifest("src/manifest.json");
	const names = preloadable.filter(isCore).map((name) => `src/${name}`);
	assert.deepEqual([...preload].sort(), names);
});

it("manifest.json tells the firmware the size of the chunk heap that it gives it", () => {
	const { config, creation } = JSON.parse(readFileSync(`${ROOT}manifest.json`, "utf8"));
	assert.equal(config.chunkBytes, creation.chunk.initial);
});

it("src/manifest.json names every folder of such modules", () => {
	const { modules: named = {} } = readManifest("src/manifest.json");
	for (const name of preloadable.filter(isCore)) {
		const key = name.includes("/") ? `${name.split("/")[0]}/*` : name;
		assert.equal(named[`src/${key}`], `./${key}`, name);
	}
});

it("manifest.json and the manifests in src/platform name and preload every part of the platform, each once", () => {
	const kits = readdirSync(`${ROOT}src/platform`).filter((name) => name.endsWith(".manifest.json"));
	const manifests = ["manifest.json", ...kits.map((name) => `src/platform/${name}`)].map(readManifest);
	const preloaded = manifests
		.flatMap(({ preload = [] }) => preload)
		.filter((name) => name.startsWith("src/"))
		.sort();
	const named = manifests
		.flatMap((manifest) => manifest.modules?.["src/platform/*"] ?? [])
		.map((path) => path.replace(/^.*\//, "src/platform/"));
	assert.deepEqual(named.sort(), preloaded);
	assert.deepEqual(
		preloaded,
		preloadable.filter(isPlatform).map((name) => `src/${name}`),
	);
});

it("the manifests of what is optional name and preload each of its modules once", () => {
	const paths = ["http_server", "mcp_features", "resources", "prompts", "setup"].flatMap((folder) =>
		readdirSync(`${ROOT}src/${folder}`)
			.filter((name) => name.endsWith("manifest.json"))
			.map((name) => ({ folder, manifest: readManifest(`src/${folder}/${name}`) })),
	);
	const preloaded = paths.flatMap(({ manifest: { preload = [] } }) => preload).sort();
	const named = paths.flatMap(({ folder, manifest: { modules = {} } }) =>
		Object.entries(modules).flatMap(([key, files]) => {
			assert.equal(key, `src/${folder}/*`);
			return [files].flat().map((file) => `src/${folder}/${file.slice("./".length)}`);
		}),
	);
	assert.deepEqual(named.sort(), preloaded);
	assert.deepEqual(
		preloaded,
		preloadable.filter(isOptional).map((name) => `src/${name}`),
	);
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
