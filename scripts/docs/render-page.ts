import { posix } from "node:path";
import { Marked, type Token, type Tokens } from "marked";
import { Anchors } from "./anchors.js";

/** A part of a page, from a heading to the next. */
interface Section {
	readonly anchor: string;
	readonly title: string;
	/** Without markup, tables and code included. */
	readonly text: string;
}

/** A page of the site. */
export interface RenderedPage {
	/** Of the Markdown file, from the project's root. */
	readonly path: string;
	readonly title: string;
	readonly html: string;
	readonly sections: readonly Section[];
	/** Pictures that it shows, from the project's root. */
	readonly pictures: readonly string[];
}

interface Surroundings {
	/** The Markdown files of the site. */
	readonly pages: ReadonlySet<string>;
	/** Where files that are not pages can be read, with "/" at its end. Undefined: nowhere. */
	readonly source: string | undefined;
}

/** Where a page is in the site. */
export function addressOf(path: string): string {
	return path === "README.md" ? "index.html" : path.replace(/\.md$/, ".html");
}

/** Makes a page from Markdown. Links to other pages stay links; links to files lead to their source, if it can be read. */
export function renderPage(path: string, markdown: string, { pages, source }: Surroundings): RenderedPage {
	const anchors = new Anchors();
	const sections: { anchor: string; title: string; text: string }[] = [];
	const pictures: string[] = [];
	const folder = posix.dirname(path);
	const resolve = (target: string): string => posix.normalize(posix.join(folder, target));
	const addressFrom = (address: string): string => posix.relative(posix.dirname(addressOf(path)), address);
	const place = (href: string): string | undefined => {
		const [file = "", anchor] = href.split("#");
		const hash = anchor === undefined ? "" : `#${anchor}`;
		if (/^[a-z]+:/.test(href) || file === "") {
			return href;
		}
		const target = resolve(file);
		return pages.has(target) ? `${addressFrom(addressOf(target))}${hash}` : source && `${source}${target}${hash}`;
	};
	const marked = new Marked({
		renderer: {
			heading({ tokens, text, depth }) {
				const anchor = anchors.make(text);
				return `<h${depth} id="${anchor}"><a href="#${anchor}">${this.parser.parseInline(tokens)}</a></h${depth}>\n`;
			},
			link({ href, tokens }) {
				const text = this.parser.parseInline(tokens);
				const target = place(href);
				return target === undefined ? text : `<a href="${escapeHtml(target)}">${text}</a>`;
			},
			table(token) {
				return `<div class="table">${tableOf(token, (each) => this.parser.parseInline(each))}</div>\n`;
			},
		},
	});
	const tokens = marked.lexer(markdown);
	readSections(tokens, sections);
	const html = marked.parser(tokens).replace(/<img src="([^"]+)"/g, (_, target: string) => {
		pictures.push(resolve(target));
		return `<img loading="lazy" src="${addressFrom(resolve(target))}"`;
	});
	return { path, title: sections[0]?.title ?? path, html, sections, pictures };
}

function readSections(tokens: readonly Token[], sections: { anchor: string; title: string; text: string }[]): void {
	const anchors = new Anchors();
	for (const token of tokens) {
		if (token.type === "heading") {
			sections.push({ anchor: anchors.make(token.text), title: plain(token.text), text: "" });
		} else {
			const section = sections.at(-1);
			if (section !== undefined) {
				section.text = `${section.text} ${plain(token.raw)}`.trim();
			}
		}
	}
}

/** The words of Markdown. */
function plain(markdown: string): string {
	return markdown
		.replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
		.replace(/<[^>]*>/g, " ")
		.replace(/[`*|#>]|---+|\\(?=\W)/g, " ")
		.replace(/\s+/g, " ")
		.trim();
}

function tableOf({ header, rows }: Tokens.Table, inline: (tokens: Token[]) => string): string {
	const cells = (row: readonly Tokens.TableCell[], name: string): string =>
		row.map(({ tokens }) => `<${name}>${inline(tokens)}</${name}>`).join("");
	const body = rows.map((row) => `<tr>${cells(row, "td")}</tr>`).join("\n");
	return `<table><thead><tr>${cells(header, "th")}</tr></thead><tbody>${body}</tbody></table>`;
}

/** Text as HTML shows it. */
export function escapeHtml(text: string): string {
	return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
