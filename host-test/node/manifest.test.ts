import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { it } from "node:test";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/**
 * Run once the machine is up: they open what is not there in the linker. The last one takes the place of a module of the
 * SDK, has its name, and is preloaded by the SDK's manifest.
 */
const NOT_PRELOADED = /^src\/(boards\/.*|main|platform\/esp32-tcp)$/;

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

/** The firmware's modules that a manifest names, as paths in the repository. Adds to `faults` what it names wrongly. */
function modulesNamedBy(path: string, faults: string[] = []): string[] {
	const { modules = {} } = readManifest(path);
	return Object.entries(modules)
		.filter(([key]) => key.startsWith("src/") && !NOT_PRELOADED.test(key))
		.flatMap(([key, files]) =>
			[files].flat().flatMap((file) => {
				const module = join(dirname(path), file);
				const isFolder = basename(module) === "*";
				if (dirname(module) !== dirname(key) || (!isFolder && basename(key) !== "*" && module !== key)) {
					faults.push(`${path}: "${file}" is named "${key}", which is not its path`);
				}
				return isFolder ? preloadable.filter((name) => dirname(name) === dirname(module)) : [module];
			}),
		);
}

const preloadedBy = (path: string): string[] =>
	[readManifest(path).preload ?? []].flat().filter((name) => name.startsWith("src/"));

/** The manifest that names other modules of a folder: the place for one more. */
function manifestOf(module: string): string {
	return (
		manifests.find((path) => modulesNamedBy(path).some((name) => dirname(name) === dirname(module))) ?? "a manifest"
	);
}

// mcconfig takes patterns for modules, but its patterns for preload match only sources that end in .js.
it("manifests name modules of the firmware by their paths, and preload exactly those", () => {
	const faults = manifests.flatMap((path) => {
		const wrong: string[] = [];
		const named = modulesNamedBy(path, wrong);
		const preloaded = preloadedBy(path);
		const missing = named.filter((name) => !preloaded.includes(name));
		const extra = preloaded.filter((name) => !named.includes(name));
		return [
			...wrong,
			...missing.map((name) => `${path}: add this line to "preload":\n\t\t"${name}",`),
			...extra.map((name) => `${path}: remove this line from "preload":\n\t\t"${name}",`),
		];
	});
	assert.ok(faults.length === 0, faults.join("\n"));
});

it("every module of the firmware is named by a manifest", () => {
	const named = new Set(manifests.flatMap((path) => modulesNamedBy(path)));
	const faults = preloadable
		.filter((name) => !named.has(name))
		.map((name) => {
			const path = manifestOf(name);
			const file = `./${relative(dirname(path), name)}`;
			return `${path}: add "${file}" to "modules", and to "preload":\n\t\t"${name}",`;
		});
	assert.ok(faults.length === 0, faults.join("\n"));
});

it("a manifest includes no other twice", () => {
	for (const path of manifests) {
		const included = [readManifest(path).include ?? []].flat();
		assert.deepEqual(included, [...new Set(included)], path);
	}
});

it("what only some boards have is in no manifest that every build includes", () => {
	const shared = ["manifest.json", "src/manifest.json"].flatMap((path) => modulesNamedBy(path));
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

it("manifest.json has a platform for every board, which names its modules as deep as its folder", () => {
	const { platforms = {} } = readManifest("manifest.json");
	const included = new Set(Object.values(platforms).map(({ include }) => include));
	const boards = readdirSync(`${ROOT}src/boards`).filter((name) => name !== VIRTUAL_BOARD);
	assert.deepEqual([...included].sort(), boards.map((name) => `./src/boards/${name}/manifest.json`).sort());
	// A board's imports are resolved against the name of its module.
	for (const board of boards) {
		assert.equal(
			readManifest(`src/boards/${board}/manifest.json`).modules?.["src/boards/target/board"],
			"./board",
			board,
		);
	}
});
