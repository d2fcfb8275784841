import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { readSteps } from "../support/guide.js";
import { anchorsOf, linksOf } from "../support/markdown.js";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

const FILES = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
	cwd: ROOT,
	encoding: "utf8",
})
	.split("\n")
	.filter((path) => path !== "" && existsSync(join(ROOT, path)));

const PAGES = FILES.filter((path) => path.endsWith(".md"));

const readPage = (path: string): string => readFileSync(join(ROOT, path), "utf8");

describe("the documentation", () => {
	it("links to files, folders and headings that exist", () => {
		const broken = PAGES.flatMap((path) =>
			linksOf(readPage(path))
				.filter((target) => !/^[a-z]+:/.test(target))
				.filter((target) => !exists(path, target))
				.map((target) => `${path}: ${target}`),
		);
		assert.equal(broken.length, 0, broken.join("\n"));
	});

	it("shows the examples of docs/beyond-tools.md and docs/embed.md as they stand", () => {
		const shown = ["beyond-tools.md", "embed.md"].flatMap((guide) =>
			readSteps(guide).filter(({ about }) => about.startsWith("examples/")),
		);
		assert.equal(shown.length, 4);
		for (const { about, text } of shown) {
			assert.equal(text, readPage(about), about);
		}
	});
});

/** Whether a link of a page leads somewhere. */
function exists(page: string, target: string): boolean {
	const [file, anchor] = target.split("#") as [string, string | undefined];
	const path = file === "" ? join(ROOT, page) : join(ROOT, dirname(page), file);
	return (
		existsSync(path) &&
		(anchor === undefined || !path.endsWith(".md") || anchorsOf(readFileSync(path, "utf8")).has(anchor))
	);
}
