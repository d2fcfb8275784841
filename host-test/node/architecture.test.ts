import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { it } from "node:test";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const DOCS = `${ROOT}docs/`;

const text = readFileSync(`${DOCS}architecture.md`, "utf8");
const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
	cwd: ROOT,
	encoding: "utf8",
})
	.split("\n")
	.filter((path) => existsSync(`${ROOT}${path}`));

it("docs/architecture.md links only to files and folders that exist", () => {
	const targets = [...text.matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)].map(([, target]) => target as string);
	const missing = targets.filter((target) => !target.includes("://") && !existsSync(`${DOCS}${target}`));
	assert.deepEqual([...new Set(missing)], []);
});

it("docs/architecture.md names only files that exist, by the end of their paths", () => {
	const names = [...text.matchAll(/`([\w./-]+\.(?:ts|mjs|js|json|c|md))`/g)].map(([, name]) => name as string);
	const missing = names.filter((name) => !files.some((path) => `/${path}`.endsWith(`/${name}`)));
	assert.deepEqual([...new Set(missing)], []);
});
