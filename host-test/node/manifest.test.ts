import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { it } from "node:test";
import { transformSync } from "esbuild";
import { boardManifest, PRESETS } from "xs-mcp/build/board-manifest";
import { targetFiles } from "xs-mcp/build/board-target";
import { readModules } from "xs-mcp/build/manifests";
import { toolsOf } from "xs-mcp/moddable/boards";
import { boardOf } from "xs-mcp/moddable/sdk";
import { ROOT } from "xs-mcp/root";
import { FIRMWARE } from "../../src/core/firmware.js";
import type { BoardData } from "../../src/hardware/board-data.js";
import { readParts } from "../support/board-parts.js";
import { expectGenerated } from "../support/expect-generated.js";

/** Manifests of builds. The first one has the features that each board has room for. */
const MANIFESTS = ["manifest.json", "src/build/manifest_minimal.json"];

const BOARDS = "src/build/manifest_minimal.json";

const SETTINGS = "src/hardware/boards/sdkconfig";

/** Boards with an ESP32-S3 by the names of their settings in that folder. */
const SHARED_SETTINGS: Readonly<Record<string, BoardData>> = {
	"8mb": { flash: "8MB" },
	"8mb_octal": { flash: "8MB", psram: "8MB octal" },
	"16mb_octal": { flash: "16MB", psram: "8MB octal" },
};

const EMULATED_BOARD = "host-test/fixtures/qemu";

interface Manifest {
	readonly build?: Readonly<Record<string, string>>;
	readonly include?: string | readonly string[];
	readonly preload?: readonly string[];
	readonly modules?: Readonly<Record<string, unknown>>;
	readonly config?: Readonly<Record<string, unknown>>;
	readonly defines?: { readonly firmware?: Readonly<Record<string, string>> };
	readonly creation?: { readonly chunk?: { readonly initial: number } };
	readonly platforms?: Readonly<Record<string, Manifest>>;
}

const readManifest = (path: string): Manifest => JSON.parse(readFileSync(`${ROOT}${path}`, "utf8"));

/** Modules that run once the machine is up: those of boards open hardware, and the last one replaces a module of the SDK. */
const NOT_PRELOADED = ["src/hardware/boards/", "src/main", "src/platform/esp32-tcp"];

const isPreloaded = (name: string): boolean => !NOT_PRELOADED.some((start) => name.startsWith(start));

/** Code of modules, each compiled once: a build of each board has most of them. */
const codes = new Map<string, string>();

const sources = filesOf("src")
	.filter((name) => /(?<!\.d)\.ts$/.test(name))
	.map((name) => `src/${name}`);

const manifests = [
	...MANIFESTS,
	...filesOf("src")
		.filter((name) => /(^|\/)manifest[^/]*\.json$|\.manifest\.json$/.test(name))
		.map((name) => `src/${name}`),
];

/** The targets that a build may have. All but the virtual device are mcconfig's. */
const platforms = Object.entries(readManifest(BOARDS).platforms ?? {});
const targets = platforms.map(([name]) => name).filter((name) => name !== "*/generated");

function filesOf(folder: string): string[] {
	return readdirSync(`${ROOT}${folder}`, { recursive: true, encoding: "utf8" });
}

/** A source's code without its types: that of a file of types is empty. */
function codeOf(file: string): string {
	const options = { loader: "ts", tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } } } as const;
	const code = codes.get(file) ?? transformSync(readFileSync(`${ROOT}${file}`, "utf8"), options).code;
	codes.set(file, code);
	return code;
}

/** The sources that a source imports, not only for their types. The board is another one in each build. */
function importsIn(file: string): string[] {
	return [...codeOf(file).matchAll(/^(?:import|export)\b[^;]*?from "([^"]+)"/gm)]
		.map(([, name]) => name as string)
		.filter((name) => name.startsWith(".") || (name.startsWith("src/") && name !== "src/hardware/boards/target/board"))
		.map((name) => (name.startsWith(".") ? join(dirname(file), name).replace(/\.js$/, "") : name))
		.map((name) => `${name}.ts`);
}

/** Imports of a build's sources that are not in the build, by path or by the name of the module that replaces them. */
function missingIn(build: ReadonlySet<string>, modules: ReadonlyMap<string, string> = new Map()): string[] {
	return [...build].flatMap((file) =>
		importsIn(file)
			.filter((imported) => !build.has(imported) && !modules.has(imported.replace(/\.ts$/, "")))
			.map((imported) => `${file} imports ${imported}, which no manifest of the build names`),
	);
}

/** Modules whose files differ between builds: the board's, and the identity of the firmware. */
const REPLACED = /^src\/(hardware\/boards\/target\/|core\/firmware)/;

for (const manifest of MANIFESTS) {
	it(`a build of ${manifest} has all that its modules import, named by their paths`, () => {
		const faults = targets.flatMap((target) => {
			const modules = readModules(manifest, target);
			const misnamed = [...modules]
				.filter(([name, file]) => name.startsWith("src/") && !REPLACED.test(name) && !file.startsWith(`${name}.`))
				.map(([name, file]) => `${file} is named ${name}`);
			return [...missingIn(new Set(modules.values()), modules), ...misnamed].map((fault) => `${target}: ${fault}`);
		});
		assert.ok(faults.length === 0, faults.join("\n"));
	});
}

it("the build of the suites for the simulator has all that its modules import", () => {
	assert.deepEqual(missingIn(new Set(readModules("host-test/manifest.json", "lin").values())), []);
});

it("src/mcp_server has all that its modules import, alone and with each feature", () => {
	const features = manifests.filter((path) => path.startsWith("src/mcp_server/features/"));
	assert.ok(features.length > 0);
	for (const more of [[], ...features.map((path) => [path])]) {
		const included = ["src/mcp_server/manifest.json", ...more];
		const files = new Set(included.flatMap((path) => [...readModules(path, "").values()]));
		assert.deepEqual(missingIn(files), [], included.join(" with "));
	}
});

it("src/mcp_server preloads its modules, alone and with each feature: a build that embeds it lists no others", () => {
	const own = manifests.filter((path) => path.startsWith("src/mcp_server/"));
	const preloaded = own.flatMap((path) => readManifest(path).preload ?? []);
	const modules = own.flatMap((path) => [...readModules(path, "").keys()]);
	assert.deepEqual(preloaded.sort(), [...new Set(modules)].filter(isPreloaded).sort());
});

it("src/preload.json names every module of the firmware that a build preloads, sorted", () => {
	const modules = sources.map((file) => file.replace(/\.ts$/, "")).filter(isPreloaded);
	expectGenerated("src/preload.json", `${JSON.stringify({ preload: modules.sort() }, null, "\t")}\n`);
});

it("src/build/boards.json has the boards that are data and targets of the SDK, so that mcconfig alone builds them", () => {
	const own = platforms.filter(([, { include }]) => include === "./boards.json");
	const lines = own.map(([target]) => {
		const name = basename(target);
		const data = PRESETS.get(name) ?? {};
		const memory = [data.flash ?? "4MB", data.psram?.split(" ")[1]].filter(Boolean).join("_").toLowerCase();
		const folder = [name, memory].find((each) => existsSync(`${ROOT}${SETTINGS}/${each}`));
		const settings = folder === undefined ? "esp32/sdkconfig" : `sdkconfig/${folder}`;
		// mcconfig resolves a path in `build` only if it starts with "./".
		return `\t"${target}": ${JSON.stringify(boardManifest(name, data, "..", `./../hardware/boards/${settings}`))}`;
	});
	expectGenerated("src/build/boards.json", `{"platforms": {\n${lines.join(",\n")}\n}}\n`);
});

it("src/hardware/boards/sdkconfig has the settings of flash and PSRAM that several of these boards share", () => {
	for (const [folder, memory] of Object.entries(SHARED_SETTINGS)) {
		for (const [path, text] of Object.entries(targetFiles("", "", { chip: "esp32s3", ...memory }, ""))) {
			if (path.startsWith("sdkconfig/")) {
				expectGenerated(`${SETTINGS}/${folder}/${basename(path)}`, text);
			}
		}
	}
});

it("every module of the firmware is named by a manifest", () => {
	const named = new Set(
		[...manifests, "host-test/manifest.json"].flatMap((path) =>
			targets.flatMap((target) => [...readModules(path, target).values()]),
		),
	);
	for (const [name, data] of PRESETS) {
		const { modules = {} } = boardManifest(name, data, "src", "") as Manifest;
		for (const path of Object.values(modules)) {
			named.add(`${path}.ts`);
		}
	}
	const unnamed = sources.filter((file) => !named.has(file) && codeOf(file) !== "");
	assert.deepEqual(unnamed, []);
});

it("a module has every name that C code uses: XS knows no others, and the code does not compile", () => {
	const code = sources.map(codeOf).join("\n");
	const natives = filesOf("src").filter((name) => name.endsWith(".c"));
	const names = natives.flatMap((name) => [
		...readFileSync(`${ROOT}src/${name}`, "utf8").matchAll(/(?:xsID_|^\tNUMBER\()(\w+)/gm),
	]);
	assert.ok(names.length > 5);
	assert.deepEqual(
		names.map(([, name]) => name).filter((name) => !new RegExp(`\\b${name}\\b`).test(code)),
		[],
	);
});

it("the manifests define the identity of the firmware: its version, and the board of each target", () => {
	const { name, version } = FIRMWARE;
	const own = readManifest("src/platform/manifest.json").defines?.firmware;
	assert.deepEqual(own, { project: `#${name}`, version: `#${version}`, board: "#esp32" });
	const boards = targets.filter((target) => target.startsWith("esp32/") && boardOf(target).board !== "esp32");
	const made = readManifest("src/build/boards.json").platforms ?? {};
	for (const target of boards) {
		const { defines } = made[target] ?? readManifest(`src/hardware/boards/${basename(target)}/manifest.json`);
		assert.equal(defines?.firmware?.board, `#${basename(target)}`);
	}
});

it("a manifest that sets the chunk heap passes its size to the firmware", () => {
	for (const path of manifests) {
		const { config, creation } = readManifest(path);
		assert.equal(config?.chunkBytes, creation?.chunk?.initial, path);
	}
});

it(`${BOARDS} has a target for every board`, () => {
	const read = [BOARDS, "src/build/boards.json"].map((path) => readFileSync(`${ROOT}${path}`, "utf8")).join("");
	const included = new Set([...read.matchAll(/hardware\/boards\/(\w+)\/manifest/g)].map(([, name]) => name));
	const boards = readdirSync(`${ROOT}src/hardware/boards`).filter((name) =>
		existsSync(`${ROOT}src/hardware/boards/${name}/board.ts`),
	);
	assert.deepEqual([...included].sort(), boards.sort());
});

it("the build of the emulated board has all that its modules import", () => {
	const paths = ["manifest.json", `${EMULATED_BOARD}/board.json`, `${EMULATED_BOARD}/features.json`];
	const modules = new Map(paths.flatMap((path) => [...readModules(path, "*/generated")]));
	assert.deepEqual(missingIn(new Set(modules.values()), modules), []);
});

it("the smallest build has no feature, and of tools only those that every board has", async () => {
	const offered = toolsOf(["network", "settings", "system"]);
	const names = [...readModules("src/build/manifest_minimal.json", "esp32").keys()];
	assert.deepEqual(
		names.filter((name) => name.startsWith("src/features/") || name.endsWith("/feature")),
		[],
	);
	const tools = names.filter((name) => name.startsWith("src/tools/") && name !== "src/tools/define-tool");
	assert.deepEqual(
		tools.filter((name) => !offered.includes(toolNameOf(`${name}.ts`))),
		[],
	);
});

it("a board's build has the tools of its parts", () => {
	const boards = targets.filter((target) => target.startsWith("esp32"));
	const partsOf = readParts(boards.map((target) => boardOf(target).board));
	for (const target of boards) {
		const { parts = [], optional = [] } = partsOf.get(boardOf(target).board) ?? {};
		const files = [...readModules("manifest.json", target).values()].filter((file) => file.startsWith("src/tools/"));
		const built = files.map(toolNameOf);
		const missing = toolsOf([...parts, ...optional]).filter((name) => !built.includes(name));
		// Its partition has no room for the log.
		assert.deepEqual(missing, target === "esp32/m5stick_cplus" ? ["self.get_log"] : [], target);
	}
});

/** The name of the tool that a file defines; "" for a file of what tools share. */
function toolNameOf(file: string): string {
	return /name: "([^"]+)"/.exec(readFileSync(`${ROOT}${file}`, "utf8"))?.[1] ?? "";
}

it("the firmware's manifest leaves to boards and parts what they set: mcconfig takes the value of the including manifest", () => {
	const { config = {} } = readManifest("src/build/manifest_minimal.json");
	for (const path of manifests.filter((path) => path.startsWith("src/") && path !== BOARDS)) {
		const { config: own, platforms = {} } = readManifest(path);
		const set = [own, ...Object.values(platforms).map((platform) => platform.config)];
		const twice = set.flatMap((each) => Object.keys(each ?? {})).filter((name) => name in config);
		assert.deepEqual(twice, [], path);
	}
});
