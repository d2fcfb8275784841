import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { it } from "node:test";
import { fileURLToPath } from "node:url";
import { findCycle, importsOf, resolveImport, sourcesIn } from "../support/imports.js";

const SOURCE = fileURLToPath(new URL("../../src/", import.meta.url));
const DOCUMENT = fileURLToPath(new URL("../../docs/architecture.md", import.meta.url));

/** Modules of Moddable's SDK, and the virtual device's, as src/types declares them. */
const HOST_MODULES = readdirSync(`${SOURCE}types`)
	.filter((name) => name.endsWith(".d.ts"))
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
	"preference",
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

/** The rooms from the table of folders in docs/architecture.md: each imports only rooms above it. */
const ROOMS = Array.from(
	(/^\| folder \| holds \|\n((?:\|.*\n)+)/m.exec(readFileSync(DOCUMENT, "utf8"))?.[1] ?? "").matchAll(
		/^\| `([^`]+)`/gm,
	),
	([, room = ""]) => room,
);

it("the table of folders in docs/architecture.md has every room of src", () => {
	assert.deepEqual([...ROOMS].sort(), [...new Set(sources.map(roomOf))].sort());
});

it("files import only rooms above theirs in that table", () => {
	const wrong = [...graph].flatMap(([name, targets]) =>
		targets
			.filter((target) => ROOMS.indexOf(roomOf(target)) > ROOMS.indexOf(roomOf(name)))
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
