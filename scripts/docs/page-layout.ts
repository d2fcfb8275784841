import { posix } from "node:path";
import { linksOfMap, type MapGroup } from "./read-map.js";
import { addressOf, escapeHtml, type RenderedPage } from "./render-page.js";

/** Pages that stand in no map, at the end of the list. */
const LAST = { title: "", links: [{ text: "Changes", path: "CHANGELOG.md" }] };

/** A page of the site as HTML, with the list of all pages beside it. It loads nothing from elsewhere. */
export function layOut(page: RenderedPage, map: readonly MapGroup[]): string {
	const folder = posix.dirname(addressOf(page.path));
	const root = posix.relative(folder, ".") || ".";
	const groups = [...map, LAST].map(
		({ title, links }) =>
			`<h2>${escapeHtml(title)}</h2><ul>${linksOfMap(links)
				.map(({ text, path }) => {
					const current = path === page.path ? ' aria-current="page"' : "";
					return `<li><a href="${root}/${addressOf(path)}"${current}>${escapeHtml(text)}</a></li>`;
				})
				.join("")}</ul>`,
	);
	const title = page.path === "README.md" ? page.title : `${page.title} · xs-mcp`;
	return `<!doctype html>
<html lang="${languageOf(page.path)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${root}/site.css">
</head>
<body data-root="${root}">
<header>
<a class="name" href="${root}/index.html">xs-mcp</a>
<search><input type="search" placeholder="Search  /" aria-label="Search the documentation" autocomplete="off"><ol class="found" hidden></ol></search>
</header>
<nav aria-label="Pages"><details open><summary>Pages</summary>${groups.join("")}</details></nav>
<main>
${page.html}
</main>
<script src="${root}/site.js" defer></script>
</body>
</html>
`;
}

function languageOf(path: string): string {
	return /\.([a-z]{2}(?:-[A-Z]{2})?)\.md$/.exec(path)?.[1] ?? "en";
}
