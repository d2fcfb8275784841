/** Removes code blocks and comments from Markdown. */
function withoutCode(text: string): string {
	return text.replace(/^( *)```[\s\S]*?^\1```/gm, "\n").replace(/<!--[\s\S]*?-->|<[a-z][^>]*>/g, "");
}

/** Returns the anchors of a page's headings, as GitHub makes them. A repeated heading gets a number. */
export function anchorsOf(markdown: string): Set<string> {
	const anchors = new Set<string>();
	for (const [, heading = ""] of withoutCode(markdown).matchAll(/^#+ +(.*)$/gm)) {
		const words = heading.replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase();
		const anchor = words.replace(/[^\p{L}\p{N}\s_-]/gu, "").replace(/\s/g, "-");
		let unique = anchor;
		for (let count = 1; anchors.has(unique); count += 1) {
			unique = `${anchor}-${count}`;
		}
		anchors.add(unique);
	}
	return anchors;
}

/** Returns the targets of a page's links and pictures, with their anchors. */
export function linksOf(markdown: string): string[] {
	const text = withoutCode(markdown.replace(/<img src="([^"]*)"[^>]*>/g, "[]($1)")).replace(/`[^`\n]*`/g, "");
	return [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target as string);
}
