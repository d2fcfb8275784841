/** Words of a sentence. */
const MAX_WORDS = 30;
/** Words of a paragraph: about five lines of a page. */
const MAX_PARAGRAPH = 110;

/** Turns of phrase that the glossary replaces, with what stands for them. */
const FORBIDDEN: readonly (readonly [RegExp, string])[] = [
	[/\bmends?\b|\bmended\b|\bmending\b/i, "fix"],
	[/\bis none\b|\bare none\b/i, "does not exist"],
	[/\bof which\b/i, "a second sentence"],
	[/\bthere is nothing here\b/i, "not found"],
	[/\bwhatsoever\b/i, "nothing: leave it out"],
	[/\bhas (?:it )?already\b(?= tools?)/i, "is already registered"],
	[/\bunder way\b/i, "in progress"],
	[/\bknown here\b/i, "unknown"],
	[/\bthe gateway failed\b/i, "internal error"],
	[/\bthose that\b/i, "a noun"],
	[/\bby itself alone\b/i, "itself"],
	[/\bwears? (?:the|a)\b|\bvouch(?:es)?\b|\blends\b/i, "a technical verb"],
	[/\bsomebody\b/i, "a person, an attacker, a client"],
	[/\bis there already\b/i, "is already registered"],
	[/\bnot asked for\b/i, "unexpected"],
	[/\btells? (?:it|them) apart\b/i, "label, distinguishes"],
	[/\bin place of\b/i, "instead of"],
	[/\bwhat (?:it|they) (?:has|have)\b/i, "a noun"],
];

/** The end of a sentence, but for the points of abbreviations. */
const SENTENCE_END = /(?<=[.!?][)"”*]*)(?<!\b(?:e\.g|i\.e|vs|etc|No)\.) /;

/** The beginning of a paragraph, an item, a row of a table or a heading. An item of a list is a paragraph. */
const BLOCK = /\n(?=\s*\n|\s*(?:[-*]|\d+\.)\s|\s*\||#)|(?<=^#.*)\n/m;

/** The Markdown of a page without code blocks and comments. */
function withoutCode(text: string): string {
	return text.replace(/^( *)```[\s\S]*?^\1```/gm, "\n").replace(/<!--[\s\S]*?-->|<[a-z][^>]*>/g, "");
}

/** The text of a line as it is read: links by their words, code and lists of code as one word. */
function readable(text: string): string {
	return text
		.replace(/`[^`]*`/g, "code")
		.replace(/code(?:,? (?:(?:and|or) )?code)+/g, "code")
		.replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
		.replace(/[*_]{1,2}(?=\S)|(?<=\S)[*_]{1,2}/g, "");
}

/** The sentences of each paragraph of a page, without tables, headings and code. */
export function paragraphsOf(markdown: string): string[][] {
	return withoutCode(markdown)
		.split(BLOCK)
		.filter((block) => /^(?!\s*[|#])\s*\S/.test(block))
		.map((block) =>
			block
				.replace(/^\s*(?:[-*]|\d+\.)\s+/, "")
				.trim()
				.replace(/\s+/g, " "),
		)
		.map((block) => readable(block).split(SENTENCE_END));
}

/** The anchors of a page's headings, as GitHub makes them. A second heading of the same words gets a number. */
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

/** The targets of a page's links and pictures, with their anchors. */
export function linksOf(markdown: string): string[] {
	const text = withoutCode(markdown.replace(/<img src="([^"]*)"[^>]*>/g, "[]($1)")).replace(/`[^`\n]*`/g, "");
	return [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target as string);
}

/** Problems of a page for its readers. */
export function problemsOf(markdown: string): string[] {
	const count = (text: string): number => text.split(" ").length;
	const paragraphs = paragraphsOf(markdown);
	return [
		...paragraphs.flat().filter((text) => count(text) > MAX_WORDS),
		...paragraphs.map((sentences) => sentences.join(" ")).filter((text) => count(text) > MAX_PARAGRAPH),
		...FORBIDDEN.flatMap(([words, better]) => {
			const found = words.exec(markdown)?.[0];
			return found === undefined ? [] : `"${found}" (better: ${better})`;
		}),
	];
}
