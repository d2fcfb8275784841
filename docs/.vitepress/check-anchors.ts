import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";

/**
 * Checks links between headings, which VitePress does not.
 *
 * @param folder the site
 * @throws Error that lists the links to headings that do not exist
 */
export function checkAnchors(folder: string): void {
	const pages = new Map(
		readdirSync(folder, { recursive: true, encoding: "utf8" })
			.filter((name) => name.endsWith(".html"))
			.map((name) => [`/${name.replaceAll("\\", "/")}`, readFileSync(join(folder, name), "utf8")]),
	);
	const broken = [...pages].flatMap(([page, html]) =>
		Array.from(html.matchAll(/<a [^>]*?href="([^":#]*)#([^"]+)"/g))
			.filter(([, path, anchor]) => {
				const target =
					path === "" ? html : pages.get(posix.resolve(posix.dirname(page), path).replace(/^\/$/, "/index.html"));
				return !target?.includes(` id="${decodeURIComponent(anchor)}"`);
			})
			.map(([, path, anchor]) => `${page}: ${path}#${anchor}`),
	);
	if (broken.length > 0) {
		throw new Error(`links to headings that do not exist:\n${[...new Set(broken)].join("\n")}`);
	}
}
