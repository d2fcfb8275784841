import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { it } from "node:test";
import { fileURLToPath } from "node:url";
import { findCycle, importsOf, resolveImport, sourcesIn } from "../support/imports.js";

const SOURCE = fileURLToPath(new URL("../../src/", import.meta.url));
const DOCUMENT = fileURLToPath(new URL("../../docs/architecture.md", import.meta.url));

/** Modules of Moddable's SDK, and the virtual device's, as src/types declares them: only boards and the platform know them. */
const HOST_MODULES = readdirSync(`${SOURCE}types`)
	.flatMap((name) => [...readFileSync(`${SOURCE}types/${name}`, "utf8").matchAll(/^declare module "([^"]+)"/gm)])
	.map(([, name]) => name as string)
	.filter((name) => !name.startsWith("src/"));

/** The modules that the entry takes from its platform. */
const MAIN_MODULES = [
	"src/boards/target/board",
	"src/platform/build",
	"src/platform/network",
	"mc/config",
	"time",
	"timer",
];

/** The modules that add-ons take from their platform. */
const ADDON_MODULES = ["dns-sd", "hmac-sha256", "http-server", "mods"].map((name) => `src/platform/${name}`);

const sources = sourcesIn(SOURCE);
const imports = new Map(sources.map((name) => [name, importsOf(`${SOURCE}${name}`)]));

/** The room that a file belongs to. */
function roomOf(path: string): string {
	return path.startsWith("mcp_server/features/") ? "mcp_server/features" : (path.split("/")[0] as string);
}

/** Imports between files of src, by the importing one. */
const graph = new Map(
	[...imports].map(([name, specifiers]) => [
		name,
		specifiers
			.filter((specifier) => specifier.startsWith("."))
			.map((specifier) => resolveImport(specifier, name).replace(/\.js$/, ".ts")),
	]),
);

/** What each room may import: the first table of folders in docs/architecture.md, in its order. */
const allowed = new Map<string, readonly string[]>();
const [, table = ""] =
	/^\| folder \| holds \| may import \|\n((?:\|.*\n)+)/m.exec(readFileSync(DOCUMENT, "utf8")) ?? [];
for (const [, name, mayImport] of table.matchAll(/^\| `([^`]+)` \|.*\| ([^|]*) \|$/gm)) {
	allowed.set(
		name as string,
		[...(mayImport as string).matchAll(/`([^`]+)`/g)].map(([, room]) => room as string),
	);
}

it("the table of folders in docs/architecture.md has every room of src, and lets none import one below it", () => {
	const rooms = [...allowed.keys()];
	assert.deepEqual([...rooms].sort(), [...new Set(sources.map(roomOf))].sort());
	const wrong = [...allowed].flatMap(([room, others]) =>
		others
			.filter((other) => !rooms.slice(0, rooms.indexOf(room)).includes(other))
			.map((other) => `${room} may import ${other}`),
	);
	assert.deepEqual(wrong, []);
});

it("files import only rooms that this table allows", () => {
	const wrong = [...graph].flatMap(([name, targets]) =>
		targets
			.filter((target) => roomOf(target) !== roomOf(name) && !allowed.get(roomOf(name))?.includes(roomOf(target)))
			.map((target) => `src/${name} imports src/${target}`),
	);
	assert.deepEqual(wrong, []);
});

it("only boards and the platform import the SDK's modules, and main.ts and the add-ons the modules that each platform resolves", () => {
	const hostModules = new Map([
		["boards", HOST_MODULES],
		["platform", HOST_MODULES],
		["addons", ADDON_MODULES],
		["main.ts", MAIN_MODULES],
	]);
	const wrong = [...imports].flatMap(([name, specifiers]) =>
		specifiers
			.filter((specifier) => !specifier.startsWith(".") && !hostModules.get(roomOf(name))?.includes(specifier))
			.map((specifier) => `src/${name} imports ${specifier}`),
	);
	assert.deepEqual(wrong, []);
});

it("no files import each other in a cycle, types included", () => {
	assert.deepEqual(findCycle(graph), []);
});
