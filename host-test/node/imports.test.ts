import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { it } from "node:test";
import { fileURLToPath } from "node:url";
import { findCycle, importsOf, resolveImport, sourcesIn } from "../support/imports.js";

const SOURCE = fileURLToPath(new URL("../../src/", import.meta.url));
const DOCUMENT = fileURLToPath(new URL("../../docs/architecture.md", import.meta.url));

/** Modules of Moddable's SDK, and the virtual device's, as src/types declares them. */
const HOST_MODULES = readdirSync(`${SOURCE}types`)
	.flatMap((name) => [...readFileSync(`${SOURCE}types/${name}`, "utf8").matchAll(/^declare module "([^"]+)"/gm)])
	.map(([, name]) => name as string)
	.filter((name) => !name.startsWith("src/"));

/** The modules that the entry takes from its platform. */
const MAIN_MODULES = [
	"src/boards/target/board",
	"src/platform/features",
	"src/platform/network",
	"src/platform/tools",
	"mc/config",
	"time",
	"timer",
];

/** The modules that features take from their platform. */
const FEATURE_MODULES = ["dns-sd", "hmac-sha256", "http-server", "in-build", "mods"].map(
	(name) => `src/platform/${name}`,
);

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

/** The other rooms that each room may import, from the top of the table of folders in docs/architecture.md down. */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
	text: [],
	language: ["text"],
	hardware: ["text", "language"],
	device_state: ["text"],
	settings: ["text", "hardware"],
	sound: ["hardware"],
	mcp_server: ["text"],
	"mcp_server/features": ["text", "mcp_server"],
	net: ["text", "hardware"],
	pictures: ["text", "language", "hardware", "net"],
	tools: ["text", "hardware", "settings", "sound", "mcp_server", "net", "pictures"],
	resources: ["text", "hardware", "settings", "mcp_server", "mcp_server/features"],
	protocols: ["text", "hardware", "settings"],
	mqtt: ["text", "settings", "protocols"],
	http: ["text", "hardware", "net"],
	direct: ["text", "hardware", "settings", "mcp_server", "mcp_server/features", "net"],
	backend: ["text", "language", "hardware", "device_state", "settings", "sound", "net", "protocols"],
	setup: ["text", "hardware", "settings", "net", "protocols", "backend"],
	conversation: ["text", "language", "hardware", "device_state", "settings", "sound", "protocols"],
	voice: ["text", "hardware", "device_state", "protocols"],
	power: ["text", "hardware", "settings"],
	update: ["text", "language", "hardware", "settings", "net"],
	mods: ["text", "hardware", "tools"],
	app: [
		"text",
		"language",
		"hardware",
		"device_state",
		"settings",
		"sound",
		"mcp_server",
		"net",
		"tools",
		"resources",
		"protocols",
		"mqtt",
		"http",
		"direct",
		"backend",
		"setup",
		"conversation",
		"voice",
		"power",
		"update",
		"mods",
	],
	platform: ["text", "hardware", "settings", "protocols", "net", "tools", "app"],
	drivers: ["text", "hardware", "settings", "platform"],
	parts: ["text", "hardware", "mcp_server", "tools", "app", "platform", "drivers"],
	boards: ["text", "hardware", "sound", "pictures", "drivers", "platform"],
	"main.ts": ["app"],
};

it("the table of folders in docs/architecture.md has every room of src, in an order that lets none import one below it", () => {
	const [, table = ""] = /^\| folder \| holds \|\n((?:\|.*\n)+)/m.exec(readFileSync(DOCUMENT, "utf8")) ?? [];
	const rooms = Object.keys(ROOMS);
	assert.deepEqual(
		[...table.matchAll(/^\| `([^`]+)`/gm)].map(([, room]) => room),
		rooms,
	);
	assert.deepEqual([...rooms].sort(), [...new Set(sources.map(roomOf))].sort());
	const wrong = Object.entries(ROOMS).flatMap(([room, others]) =>
		others
			.filter((other) => !rooms.slice(0, rooms.indexOf(room)).includes(other))
			.map((other) => `${room} may import ${other}`),
	);
	assert.deepEqual(wrong, []);
});

it("files import only rooms that theirs may import", () => {
	const wrong = [...graph].flatMap(([name, targets]) =>
		targets
			.filter((target) => roomOf(target) !== roomOf(name) && !ROOMS[roomOf(name)]?.includes(roomOf(target)))
			.map((target) => `src/${name} imports src/${target}`),
	);
	assert.deepEqual(wrong, []);
});

/** Files that put the SDK's modules together for boards. Everything else is handed what it needs. */
const OPENERS = /^(boards|platform)\/|\/open-[^/]+\.ts$|^drivers\/updater\/p256\.ts$/;

/** The modules of the host that a file may import. */
function hostModulesFor(name: string): readonly string[] {
	if (name === "main.ts") {
		return MAIN_MODULES;
	}
	// It stands under another name, so it names the module itself.
	if (name === "parts/package.ts") {
		return ["src/parts/index"];
	}
	return name.endsWith("/feature.ts") ? FEATURE_MODULES : OPENERS.test(name) ? HOST_MODULES : [];
}

it("only files that open parts import the SDK's modules, and main.ts and features the modules that each platform resolves", () => {
	const wrong = [...imports].flatMap(([name, specifiers]) =>
		specifiers
			.filter((specifier) => !specifier.startsWith(".") && !hostModulesFor(name).includes(specifier))
			.map((specifier) => `src/${name} imports ${specifier}`),
	);
	assert.deepEqual(wrong, []);
});

it("no files import each other in a cycle, types included", () => {
	assert.deepEqual(findCycle(graph), []);
});
