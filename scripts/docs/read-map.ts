/** A link of the map. */
export interface MapLink {
	readonly text: string;
	/** Of a Markdown file. */
	readonly path: string;
}

/** Pages for one purpose. */
export interface MapGroup {
	readonly title: string;
	readonly links: readonly MapLink[];
}

/** The groups of the README's map, a table in which a bold cell begins a group. */
export function readMap(readme: string): MapGroup[] {
	const groups: { title: string; links: MapLink[] }[] = [];
	for (const row of readme.slice(readme.indexOf("\n## Map")).match(/^\|.*\|$/gm) ?? []) {
		const title = /^\| \*\*(.+?)\*\* \|/.exec(row)?.[1];
		if (title !== undefined) {
			groups.push({ title, links: [] });
		}
		for (const [, text = "", path = ""] of row.matchAll(/\[([^\]]+)\]\(([^)#]+\.md)[^)]*\)/g)) {
			groups.at(-1)?.links.push({ text, path });
		}
	}
	return groups;
}

/** Each page once, with a capital letter. */
export function linksOfMap(links: readonly MapLink[]): MapLink[] {
	return links
		.filter(({ path }, at) => links.findIndex((each) => each.path === path) === at)
		.map(({ text, path }) => ({ path, text: `${text.slice(0, 1).toUpperCase()}${text.slice(1)}` }));
}
