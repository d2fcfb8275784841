import assert from "node:assert/strict";
import { it } from "node:test";
import { fileURLToPath } from "node:url";
import { importsOf, resolveImport, sourcesIn } from "../../host-test/support/imports.js";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** The rooms of each package from the top down: docs/architecture.md. A room imports only rooms below it. */
const ROOMS = {
	"gateway/src": [
		"index.ts",
		"cli",
		"program.ts",
		"program",
		"console",
		"operator",
		"transports",
		"listening",
		"speech",
		"mcp",
		"catalog",
		"cluster",
		"events",
		"history",
		"home-assistant",
		"oauth",
		"devices/bootstrap",
		"devices/firmware",
		"devices/pictures",
		"devices",
		"http",
		"log",
		"net",
		"config",
		"manager.ts",
		"version.ts",
		"firmware.ts",
	],
	"mcp-manager/src": ["proxy", "manager", "upstreams", "upstreams/auth", "core", "version.ts", "firmware.ts"],
} as const;

type Package = keyof typeof ROOMS;
const PACKAGES = Object.keys(ROOMS) as Package[];

/** Every import of a file by another one of the repository, with paths from its root. */
const ARROWS = PACKAGES.flatMap((folder) =>
	sourcesIn(ROOT + folder).flatMap((name) => {
		const from = `${folder}/${name}`;
		const imports = importsOf(ROOT + from).map((specifier) => resolveImport(specifier, from));
		return imports.map((target) => ({ from, to: target.replace(/\.js$/, ".ts") }));
	}),
);

function packageOf(path: string): Package | undefined {
	return PACKAGES.find((folder) => path.startsWith(`${folder}/`));
}

/** The folder of a file, or the file itself if it lies beside the rooms. */
function roomOf(path: string): string {
	const rest = path.slice((packageOf(path) ?? "").length + 1);
	return rest.includes("/") ? rest.slice(0, rest.lastIndexOf("/")) : rest;
}

function rankOf(path: string): number {
	return (ROOMS[packageOf(path) as Package] as readonly string[]).indexOf(roomOf(path));
}

function describeArrows(arrows: typeof ARROWS): string {
	return arrows.map(({ from, to }) => `${from} imports ${to}`).join("\n");
}

it("every file is in a room that has its place", () => {
	const homeless = ARROWS.map(({ from }) => from).filter((path) => rankOf(path) < 0);
	assert.deepEqual([...new Set(homeless)], []);
});

it("imports point down", () => {
	const inside = ARROWS.filter(({ from, to }) => packageOf(from) === packageOf(to) && roomOf(from) !== roomOf(to));
	assert.equal(describeArrows(inside.filter(({ from, to }) => rankOf(to) <= rankOf(from))), "");
});

it("no files import each other in a cycle", () => {
	const targets = new Map(ARROWS.map(({ from }) => [from, ARROWS.filter((each) => each.from === from)]));
	const done = new Set<string>();
	const cycles: string[] = [];
	const visit = (path: string, way: readonly string[]): void => {
		if (way.includes(path)) {
			cycles.push([...way.slice(way.indexOf(path)), path].join(" -> "));
		} else if (!done.has(path)) {
			for (const { to } of targets.get(path) ?? []) {
				visit(to, [...way, path]);
			}
			done.add(path);
		}
	};
	for (const { from } of ARROWS) {
		visit(from, []);
	}
	assert.deepEqual(cycles, []);
});

it("the firmware is imported through firmware.ts alone, and the manager by its name", () => {
	const outside = ARROWS.filter(({ from, to }) => to.includes("/src/") && packageOf(to) !== packageOf(from));
	assert.equal(describeArrows(outside.filter(({ from }) => roomOf(from) !== "firmware.ts")), "");
	const firmware = ARROWS.filter(({ from, to }) => to.startsWith("src/") && roomOf(from) !== "firmware.ts");
	assert.equal(describeArrows(firmware), "");
	const upwards = ARROWS.filter(({ from, to }) => from.startsWith("mcp-manager/") && to.startsWith("xs-mcp-gateway"));
	assert.equal(describeArrows(upwards), "");
});
