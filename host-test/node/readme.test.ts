import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { linksOf } from "../support/markdown.js";

const ENGLISH = "README.md";
const TRANSLATIONS = ["README.ja.md", "README.zh-CN.md"];

const read = (name: string): string => readFileSync(new URL(`../../${name}`, import.meta.url), "utf8");

/** The levels of the headings: translated, they stay in their order. */
function headingsOf(text: string): string[] {
	const prose = text.replace(/^```[\s\S]*?^```$/gm, "");
	return [...prose.matchAll(/^(#+) .*$/gm)].map(([, level]) => level as string);
}

/** The code of each block without its comments, which are translated, and without a question in words. */
function codeOf(text: string): string[] {
	return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language, code = ""]) =>
		`${language}: ${code.replace(/ +# .*$/gm, "").replace(/question="[^"]*"/g, "question=…")}`.trim(),
	);
}

/** Where the page leads, except to itself in other languages. */
function targetsOf(text: string): string[] {
	return linksOf(text).filter((target) => !target.startsWith("README"));
}

describe("a translated README", () => {
	for (const name of TRANSLATIONS) {
		it(`${name} has the headings, commands, links and table rows of the English one, in their order`, () => {
			const [english, translated] = [read(ENGLISH), read(name)];
			assert.deepEqual(headingsOf(translated), headingsOf(english));
			assert.deepEqual(codeOf(translated), codeOf(english));
			assert.deepEqual(targetsOf(translated), targetsOf(english));
			const rows = (text: string): number => text.match(/^\|/gm)?.length ?? 0;
			assert.equal(rows(translated), rows(english));
		});

		it(`${ENGLISH} and ${name} link to each other`, () => {
			assert.ok(linksOf(read(ENGLISH)).includes(name));
			assert.ok(linksOf(read(name)).includes(ENGLISH));
		});
	}
});

it("each README says at its top what has not run on a real chip", () => {
	for (const name of [ENGLISH, ...TRANSLATIONS]) {
		const [top = ""] = read(name).split("\n## ");
		assert.ok(linksOf(top).includes("docs/verified.md"), name);
	}
});
