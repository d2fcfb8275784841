import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { it } from "node:test";
import { fileURLToPath } from "node:url";
import { transformSync } from "esbuild";
import { readParts, toolsOf } from "../../scripts/moddable/board-parts.js";
import { TOOLS } from "../../src/tools/index.js";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/**
 * Run once the machine is up: they open what is not there in the linker. The last one takes the place of a module of the
 * SDK, has its name, and is preloaded by the SDK's manifest.
 */
const NOT_PRELOADED = /^src\/(boards\/.*|main|platform\/esp32-tcp)$/;

/** The list of all tools: a build has only those that its manifests name. */
const ALL_TOOLS = "src/tools/index";

/** The one board that is not built with mcconfig. */
const VIRTUAL_BOARD = "virtual";

const BOARDS = "src/boards.manifest.json";

interface Manifest {
	readonly config?: object;
	readonly include?: string | readonly string[];
	readonly modules?: Readonly<Record<string, string | readonly string[]>>;
	readonly preload?: string | readonly string[];
	readonly platforms?: Readonly<
		Record<string, { readonly config?: object; readonly include?: string | readonly string[] }>
	>;
}

const readManifest = (path: string): Manifest => JSON.parse(readFileSync(`${ROOT}${path}`, "utf8"));

/** Code of modules, each compiled once: a build of each board has most of them. */
const codes = new Map<string, string>();

/** The paths of the firmware's manifests: its own, and those of its folders, parts and boards. */
const manifests = [
	"manifest.json",
	"manifest_minimal.json",
	...filesOf("src")
		.filter((name) => name.endsWith("manifest.json"))
		.map((name) => `src/${name}`),
];
const preloadable = filesOf("src")
	.filter((name) => /(?<!\.d)\.ts$/.test(name))
	.map((name) => `src/${name.slice(0, -".ts".length)}`)
	.filter((name) => !NOT_PRELOADED.test(name) && codeOf(name) !== "");

/** A module's code without its types: that of a file of types is empty. */
function codeOf(module: string): string {
	const options = { loader: "ts", tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } } } as const;
	const code = codes.get(module) ?? transformSync(readFileSync(`${ROOT}${module}.ts`, "utf8"), options).code;
	codes.set(module, code);
	return code;
}

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
		.filter((name) => !named.has(name) && name !== ALL_TOOLS)
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

it("optional parts are in no manifest that every build includes", () => {
	const shared = ["manifest.json", "manifest_minimal.json", "src/manifest.json", "src/addons/manifest.json"].flatMap(
		(path) => modulesNamedBy(path),
	);
	assert.deepEqual(
		shared.filter((name) => name.startsWith("src/drivers/")),
		[],
	);
});

it("a manifest that sets the chunk heap passes its size to the firmware", () => {
	for (const path of manifests) {
		const { config, creation } = JSON.parse(readFileSync(`${ROOT}${path}`, "utf8"));
		assert.equal(config?.chunkBytes, creation?.chunk?.initial, path);
	}
});

it("src/boards.manifest.json has a platform for every board, which names its modules as deep as its folder", () => {
	const { platforms = {} } = readManifest(BOARDS);
	const included = new Set(Object.values(platforms).map(({ include }) => include as string));
	const boards = readdirSync(`${ROOT}src/boards`).filter((name) => name !== VIRTUAL_BOARD);
	assert.deepEqual([...included].sort(), boards.map((name) => `./boards/${name}/manifest.json`).sort());
	// A board's imports are resolved against the name of its module.
	for (const board of boards) {
		assert.equal(
			readManifest(`src/boards/${board}/manifest.json`).modules?.["src/boards/target/board"],
			"./board",
			board,
		);
	}
});

/** The firmware's modules in a build, by their paths in the repository. */
function modulesIn(path: string, target: string, seen = new Set<string>()): string[] {
	if (seen.has(path)) {
		return [];
	}
	seen.add(path);
	const { include = [], platforms = {} } = readManifest(path);
	const platform = platforms[target] ?? platforms[target.split("/")[0] as string];
	const included = [include, platform?.include ?? []].flat().filter((each) => !each.startsWith("$"));
	const own = Object.entries(readManifest(path).modules ?? {})
		.filter(([key]) => key.startsWith("src/"))
		.flatMap(([, files]) => [files].flat().map((file) => join(dirname(path), file)));
	return [...own, ...included.flatMap((each) => modulesIn(join(dirname(path), each), target, seen))];
}

/** The modules of the firmware that a module imports, not only for their types. */
function importsIn(module: string): string[] {
	const specifiers = [...codeOf(module).matchAll(/^(?:import|export)\b[^;]*?from "([^"]+)"/gm)].map(
		([, name]) => name as string,
	);
	return specifiers.flatMap((name) => {
		if (name === "src/boards/target/board") {
			return [];
		}
		return name.startsWith(".")
			? [join(dirname(module), name).replace(/\.js$/, "")]
			: name.startsWith("src/")
				? [name]
				: [];
	});
}

/** What the modules of a build import that is not in it. */
function missingIn(build: ReadonlySet<string>): string[] {
	return [...build].flatMap((module) =>
		importsIn(module)
			.filter((name) => !build.has(name))
			.map((name) => `${module} imports ${name}, which no manifest of the build names`),
	);
}

const targets = Object.keys(readManifest(BOARDS).platforms ?? {});

for (const manifest of ["manifest.json", "manifest_minimal.json"]) {
	it(`a build of ${manifest} has all that its modules import`, () => {
		const faults = targets.flatMap((target) =>
			missingIn(new Set(modulesIn(manifest, target))).map((fault) => `${target}: ${fault}`),
		);
		assert.ok(faults.length === 0, faults.join("\n"));
	});
}

it("src/mcp_server has all that its modules import, alone and with each feature", () => {
	const features = manifests.filter((path) => path.startsWith("src/mcp_server/features/"));
	assert.ok(features.length > 0);
	for (const more of [[], ...features.map((path) => [path])]) {
		const included = ["src/mcp_server/manifest.json", ...more];
		assert.deepEqual(missingIn(new Set(included.flatMap((path) => modulesIn(path, "")))), [], included.join(" with "));
	}
});

it("the smallest build has no add-on, and of tools only those that every board has", () => {
	const { offered } = toolsOf(["network", "settings", "system"]);
	const ofEveryBoard = toolFiles().flatMap(({ name, module }) => (offered.includes(name) ? module : []));
	const built = modulesIn("manifest_minimal.json", "esp32");
	const optional = built.filter((name) => /^src\/(addons|tools)\/[^/]+$/.test(name));
	const faults = optional
		.filter((module) => !ofEveryBoard.includes(module))
		.map((module) => `${module}: name it in the manifest of its part, such as src/tools/screen.manifest.json`);
	assert.deepEqual(faults, []);
});

it("a board's build has the tools of its parts", () => {
	const boards = Object.entries(readManifest(BOARDS).platforms ?? {}).map(([target, { include = "" }]) => ({
		target,
		board: basename(dirname([include].flat()[0] as string)),
	}));
	const partsOf = readParts(boards.map(({ board }) => board));
	for (const { target, board } of boards) {
		const { parts = [], optional = [] } = partsOf.get(board) ?? {};
		const offered = new Set(toolsOf([...parts, ...optional]).offered);
		const built = new Set(modulesIn("manifest.json", target));
		const missing = toolFiles().filter(({ name, module }) => offered.has(name) && !built.has(module));
		assert.deepEqual(missing, [], target);
	}
});

it("the lists of tools and add-ons that a build may have are those of their folders, in the order of src/tools/index.ts", () => {
	const lists = readFileSync(`${ROOT}src/platform/build.ts`, "utf8");
	const listed = (name: string): string[] => {
		const [, list = ""] = new RegExp(`const ${name}\\b[^=]*= deepFreeze\\(\\[([^\\]]*)`).exec(lists) ?? [];
		return [...list.matchAll(/"([^"]+)"/g)].map(([, each]) => each as string);
	};
	assert.deepEqual(
		listed("TOOLS").map((name) => `src/tools/${name}`),
		toolFiles().map(({ module }) => module),
	);
	const addons = preloadable.filter((name) => name.startsWith("src/addons/")).map((name) => basename(name));
	assert.deepEqual(listed("ADDONS"), addons.sort());
});

/** The tools in the order of their list, and their modules. */
function toolFiles(): { name: string; module: string }[] {
	const byName = new Map(
		preloadable
			.filter((module) => dirname(module) === "src/tools" && module !== ALL_TOOLS)
			.map((module) => [/name: "([^"]+)"/.exec(readFileSync(`${ROOT}${module}.ts`, "utf8"))?.[1], module]),
	);
	return TOOLS.map(({ name }) => ({ name, module: byName.get(name) ?? `no file of ${name}` }));
}

it("the firmware's manifest leaves to boards and parts what they set: mcconfig takes the value of the including manifest", () => {
	const { config = {} } = readManifest("manifest_minimal.json");
	for (const path of manifests.filter((path) => path.startsWith("src/"))) {
		const { config: own, platforms = {} } = readManifest(path);
		const set = [own, ...Object.values(platforms).map((platform) => platform.config)];
		const twice = set.flatMap((each) => Object.keys(each ?? {})).filter((name) => name in config);
		assert.deepEqual(twice, [], path);
	}
});
