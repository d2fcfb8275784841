import MiniSearch, { type Options } from "minisearch";

/** A section as the search finds it. */
export interface FoundSection {
	/** Of the section. */
	readonly title: string;
	/** The page's title. */
	readonly page: string;
	/** From the site's root. */
	readonly url: string;
	readonly text: string;
}

/** Characters of a section's text that are shown below its title. */
const EXCERPT = 120;

/** The same where the index is made and where it is read. */
export const OPTIONS: Options<FoundSection> = {
	idField: "url",
	fields: ["title", "page", "text"],
	storeFields: ["title", "page", "excerpt"],
	extractField: (section, name) =>
		name === "excerpt" ? section.text.slice(0, EXCERPT) : section[name as keyof FoundSection],
	searchOptions: { boost: { title: 4, page: 2 }, prefix: true, fuzzy: 0.15, combineWith: "AND" },
};

/** The index of all sections. */
export function makeIndex(sections: readonly FoundSection[]): MiniSearch<FoundSection> {
	const index = new MiniSearch<FoundSection>(OPTIONS);
	index.addAll(sections);
	return index;
}
