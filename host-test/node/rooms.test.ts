import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { it } from "node:test";
import { fileURLToPath } from "node:url";
import { resolveImport } from "../support/imports.js";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** They import from every folder, and nothing imports them. */
const TESTS = ["host-test", "bench"];

/** The project's folders from the top down: docs/architecture.md. Each imports only folders below it. */
const ROOMS = [...TESTS, "scripts", "examples", "virtual-device", "gateway", "mcp-manager", "toolchain", "src"];

const SOURCES = execFileSync("git", ["ls-files", "*.ts", "*.tsx", "*.mjs"], { cwd: ROOT, encoding: "utf8" })
	.trim()
	.split("\n")
	.filter((path) => ROOMS.includes(roomOf(path)) && !TESTS.includes(roomOf(path)) && !path.split("/").includes("test"));

function roomOf(path: string): string {
	return path.split("/")[0] as string;
}

/** Static imports, and those on use. */
function relativeImports(path: string): string[] {
	return [...readFileSync(ROOT + path, "utf8").matchAll(/(?:\bfrom |\bimport\(|^import )"(\.[^"]+)"/gm)].map(
		([, specifier]) => resolveImport(specifier as string, path),
	);
}

it("programs, packages, toolchain and firmware import only what is below them", () => {
	const upward = SOURCES.flatMap((path) =>
		relativeImports(path)
			.filter((target) => ROOMS.slice(0, ROOMS.indexOf(roomOf(path))).includes(roomOf(target)))
			.map((target) => `${path} imports ${target}`),
	);
	assert.deepEqual(upward, []);
});
