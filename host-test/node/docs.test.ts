import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { anchorsOf, linksOf, problemsOf, sentencesOf } from "../support/prose.js";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

const PAGES = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "*.md"], {
	cwd: ROOT,
	encoding: "utf8",
})
	.split("\n")
	.filter((path) => path !== "" && existsSync(join(ROOT, path)));

/** Not the list of changes and other languages: their links are tested all the same. */
const PROSE = PAGES.filter((path) => path !== "CHANGELOG.md" && !/README\.\S+\.md$/.test(path));

const readPage = (path: string): string => readFileSync(join(ROOT, path), "utf8");

const SAMPLE = `# A *title*: what it is!

One (with [two](a.md#x), e.g. \`a\`, \`b\` and \`c\`). Two?

| a table. | is not prose. |

1. An item
   goes on. A next one
- another

\`\`\`sh
echo "code. is not"
\`\`\`
`;

describe("a page", () => {
	it("has sentences in its paragraphs and items, without tables, headings and code", () => {
		assert.deepEqual(sentencesOf(SAMPLE), [
			{ line: 3, text: "One (with two, e.g. code)." },
			{ line: 3, text: "Two?" },
			{ line: 7, text: "An item goes on." },
			{ line: 7, text: "A next one" },
			{ line: 9, text: "another" },
		]);
	});

	it("has problems: a long sentence, a word that the glossary replaces", () => {
		assert.deepEqual(problemsOf(`${"word ".repeat(31)}end.`), [`1: 32 words: ${"word ".repeat(31)}end.`]);
		assert.deepEqual(problemsOf("We mend it."), ['1: "mend" (better: fix)']);
	});

	it("has anchors of its headings, as GitHub makes them, and links", () => {
		assert.deepEqual([...anchorsOf("# Where is …?\n## A `b` c\n## A `b` c")], ["where-is-", "a-b-c", "a-b-c-1"]);
		assert.deepEqual(linksOf('[a](b.md#c) <img src="d.png"> `[no](x.md)`'), ["b.md#c", "d.png"]);
	});
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
