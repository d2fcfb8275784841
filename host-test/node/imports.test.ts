import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { it } from "node:test";
import { fileURLToPath } from "node:url";
import { findCycle, importsOf, resolveImport, sourcesIn } from "../support/imports.js";

const SOURCE = fileURLToPath(new URL("../../src/", import.meta.url));

/** Modules of Moddable's SDK, and the virtual device's, as src/types declares them: only boards and the platform know them. */
const HOST_MODULES = readdirSync(`${SOURCE}types`)
	.flatMap((name) => [...readFileSync(`${SOURCE}types/${name}`, "utf8").matchAll(/^declare module "([^"]+)"/gm)])
	.map(([, name]) => name as string)
	.filter((name) => !name.startsWith("src/"));

/** The rooms from the lowest to the highest: imports point down. Rooms of one line do not import each other. */
const LEVELS: readonly (readonly string[])[] = [
	["text"],
	["hardware", "device_state"],
	["settings", "mcp_server", "sound"],
	["mcp_server/features", "protocols", "drivers", "pictures"],
	["net"],
	["connect", "update", "tools", "resources"],
	["app", "platform"],
	["boards"],
	["main.ts"],
];

/** The modules that the entry takes from its platform. */
const MAIN_MODULES = [
	"src/boards/target/board",
	...["dns-sd", "hmac-sha256", "http-server", "mods", "network"].map((name) => `src/platform/${name}`),
	"mc/config",
	"time",
	"timer",
];

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

const levelOf = (room: string): number => LEVELS.findIndex((rooms) => rooms.includes(room));

it("every room of src has its level", () => {
	assert.deepEqual(
		[...new Set(sources.map(roomOf))].filter((room) => levelOf(room) < 0),
		[],
	);
});

it("imports between rooms point down", () => {
	const wrong = [...graph].flatMap(([name, targets]) =>
		targets
			.filter((target) => roomOf(target) !== roomOf(name) && levelOf(roomOf(target)) >= levelOf(roomOf(name)))
			.map((target) => `src/${name} imports src/${target}`),
	);
	assert.deepEqual(wrong, []);
});

it("only boards and the platform import the SDK's modules, and main.ts the modules that each platform resolves", () => {
	const allowed = new Map([
		["boards", HOST_MODULES],
		["platform", HOST_MODULES],
		["main.ts", MAIN_MODULES],
	]);
	const wrong = [...imports].flatMap(([name, specifiers]) =>
		specifiers
			.filter((specifier) => !specifier.startsWith(".") && !allowed.get(roomOf(name))?.includes(specifier))
			.map((specifier) => `src/${name} imports ${specifier}`),
	);
	assert.deepEqual(wrong, []);
});

it("no files import each other in a circle, types included", () => {
	assert.deepEqual(findCycle(graph), []);
});
