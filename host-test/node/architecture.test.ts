import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { it } from "node:test";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

const text = readFileSync(`${ROOT}docs/architecture.md`, "utf8");
const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
	cwd: ROOT,
	encoding: "utf8",
})
	.split("\n")
	.filter((path) => existsSync(`${ROOT}${path}`));

it("docs/architecture.md names only files that exist, by the end of their paths", () => {
	const names = [...text.matchAll(/`([\w./-]+\.(?:ts|mjs|js|json|c|md))`/g)].map(([, name]) => name as string);
	const missing = names.filter((name) => !files.some((path) => `/${path}`.endsWith(`/${name}`)));
	assert.deepEqual([...new Set(missing)], []);
});
