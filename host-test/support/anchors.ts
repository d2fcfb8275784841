/** Makes the anchors of a page's headings, as GitHub does. A second heading of the same words gets a number. */
export class Anchors {
	readonly #made = new Set<string>();

	/** @param heading its Markdown, without the number signs */
	make(heading: string): string {
		const words = heading.replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase();
		const anchor = words.replace(/[^\p{L}\p{N}\s_-]/gu, "").replace(/\s/g, "-");
		let unique = anchor;
		for (let count = 1; this.#made.has(unique); count += 1) {
			unique = `${anchor}-${count}`;
		}
		this.#made.add(unique);
		return unique;
	}
}
