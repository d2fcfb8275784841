import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { readSteps } from "../support/guide.js";
import { anchorsOf, linksOf, paragraphsOf, problemsOf } from "../support/prose.js";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

const FILES = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
	cwd: ROOT,
	encoding: "utf8",
})
	.split("\n")
	.filter((path) => path !== "" && existsSync(join(ROOT, path)));

const PAGES = FILES.filter((path) => path.endsWith(".md"));

/** Not the list of changes and other languages: their links are tested all the same. */
const PROSE = PAGES.filter((path) => path !== "CHANGELOG.md" && !/README\.\S+\.md$/.test(path));

const readPage = (path: string): string => readFileSync(join(ROOT, path), "utf8");

it("a sentence is known in paragraphs and items, but not in tables, headings and code", () => {
	const page =
		"# A?\n\nOne (with [two](a.md#x), e.g. `a`, `b` and `c`). Two?\n\n| a. | b |\n\n1. An item\n   goes on. Next\n- last\n\n```sh\nx. y\n```\n";
	assert.deepEqual(paragraphsOf(page), [
		["One (with two, e.g. code).", "Two?"],
		["An item goes on.", "Next"],
		["last"],
	]);
	assert.equal(problemsOf(`${"word ".repeat(31)}end. We mend it.`).length, 2);
	assert.deepEqual([...anchorsOf("# Where is …?\n## A `b` c\n## A `b` c")], ["where-is-", "a-b-c", "a-b-c-1"]);
});

describe("the documentation", () => {
	it("has sentences and paragraphs that can be read at once, and the words of the glossary", () => {
		const problems = PROSE.flatMap((path) => problemsOf(readPage(path)).map((problem) => `${path}:${problem}`));
		assert.equal(problems.length, 0, problems.join("\n"));
	});

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

	it("names in docs/architecture.md only files that exist, by the end of their paths", () => {
		const named = [...readPage("docs/architecture.md").matchAll(/`([\w./-]+\.(?:ts|mjs|js|json|c|md))`/g)];
		const missing = named.filter(([, name]) => !FILES.some((path) => `/${path}`.endsWith(`/${name}`)));
		assert.deepEqual(missing, []);
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
