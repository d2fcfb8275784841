import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { buildSite } from "../../../scripts/docs/build-site.js";
import { makeIndex } from "../../../scripts/docs/page/search-index.js";
import { linksOfMap, readMap } from "../../../scripts/docs/read-map.js";
import { renderPage } from "../../../scripts/docs/render-page.js";

const PAGE = `# One & \`two\`

[page](../a.md#x), [file](../src/b.ts), [here](#one--two), [web](https://example.com/)

## Same
| a |
| - |
| <img src="images/c.png"> |

## Same
\`\`\`sh
npm start
\`\`\`
`;

const surroundings = { pages: new Set(["a.md", "docs/page.md"]), source: undefined };

describe("a page of the site", () => {
	it("has links to pages, and to sources only where they can be read", () => {
		const { html } = renderPage("docs/page.md", PAGE, surroundings);
		assert.match(
			html,
			/<a href="\.\.\/a\.html#x">page<\/a>, file, <a href="#one--two">here<\/a>, <a href="https:\/\/ex/,
		);
		const { html: sourced } = renderPage("docs/page.md", PAGE, { ...surroundings, source: "https://host/main/" });
		assert.match(sourced, /<a href="https:\/\/host\/main\/src\/b\.ts">file<\/a>/);
	});

	it("has sections with the anchors of GitHub, and names its pictures", () => {
		const { title, sections, pictures } = renderPage("docs/page.md", PAGE, surroundings);
		assert.equal(title, "One & two");
		assert.deepEqual(
			sections.map(({ anchor, text }) => [anchor, text]),
			[
				["one--two", "page, file, here, web"],
				["same", "a -"],
				["same-1", "sh npm start"],
			],
		);
		assert.deepEqual(pictures, ["docs/images/c.png"]);
	});

	it("has the README's map beside it", () => {
		const groups = readMap("x\n## Map\n| you | read |\n| **Use it** | |\n| a | [b](c.md), [d](c.md#e), [f](g.txt) |\n");
		assert.deepEqual(
			groups.map(({ title, links }) => [title, linksOfMap(links)]),
			[["Use it", [{ text: "B", path: "c.md" }]]],
		);
	});
});

describe("the site (npm run docs:site)", () => {
	it("has every page, links that lead somewhere, and loads nothing from elsewhere", async (t) => {
		const folder = mkdtempSync(join(tmpdir(), "xs-mcp-site-"));
		t.after(() => rmSync(folder, { recursive: true }));
		const pages = await buildSite(folder);
		assert.ok(pages.includes("index.html") && pages.includes("docs/gateway/security.html"));
		for (const page of pages) {
			const html = readFileSync(join(folder, page), "utf8");
			assert.doesNotMatch(html, /<(?:script|link|img|iframe)[^>]* (?:src|href)="https?:/, page);
		}
		assert.doesNotMatch(readFileSync(join(folder, "site.css"), "utf8"), /url\(|@import/);
		assert.ok(readdirSync(folder).includes("search-index.js"));
	});

	it("finds sections by the beginnings of words, and with a slip of the pen", () => {
		const section = (title: string, text: string) => ({ title, text, page: "Page", url: `#${title}` });
		const index = makeIndex([section("Rate limits", "refused with 429"), section("Tokens", "for clients")]);
		const found = (text: string): unknown[] => index.search(text).map(({ id }) => id);
		assert.deepEqual(found("rat lim"), ["#Rate limits"]);
		assert.deepEqual(found("toknes"), []);
		assert.deepEqual(found("tokenz"), ["#Tokens"]);
		assert.deepEqual(found("rate clients"), []);
	});
});
