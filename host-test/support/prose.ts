import { Anchors } from "./anchors.js";

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

/** A sentence of a page, and the line on which its paragraph begins. */
export interface Sentence {
	readonly line: number;
	readonly text: string;
}

/** Abbreviations: their points do not end a sentence. */
const ABBREVIATION = /(?:\be\.g|\bi\.e|\bvs|\betc|\bNo)\.$/;

/** The Markdown of a page without code blocks and comments; lines keep their numbers. */
function withoutCode(text: string): string {
	const blank = (block: string): string => block.replace(/[^\n]/g, "");
	return text.replace(/^( *)```[\s\S]*?^\1```/gm, blank).replace(/<!--[\s\S]*?-->|<[a-z][^>]*>/g, blank);
}

/** The text of a line as it is read: links by their words, code and lists of code as one word. */
function readable(text: string): string {
	return text
		.replace(/`[^`]*`/g, "code")
		.replace(/code(?:,? (?:(?:and|or) )?code)+/g, "code")
		.replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
		.replace(/[*_]{1,2}(?=\S)|(?<=\S)[*_]{1,2}/g, "");
}

/** The sentences of a page: not those of tables, code and headings. An item of a list is a paragraph. */
export function sentencesOf(markdown: string): Sentence[] {
	const sentences: Sentence[] = [];
	let paragraph = "";
	let start = 0;
	const finish = (): void => {
		let sentence = "";
		for (const word of readable(paragraph).split(/\s+/).filter(Boolean)) {
			sentence += sentence === "" ? word : ` ${word}`;
			if (/[.!?][)"”*]*$/.test(word) && !ABBREVIATION.test(word) && !ABBREVIATION.test(sentence)) {
				sentences.push({ line: start, text: sentence });
				sentence = "";
			}
		}
		if (sentence !== "") {
			sentences.push({ line: start, text: sentence });
		}
		paragraph = "";
	};
	for (const [index, line] of withoutCode(markdown).split("\n").entries()) {
		const item = /^\s*(?:[-*]|\d+\.)\s+/.exec(line);
		if (/^\s*$|^\s*\||^#/.test(line) || item) {
			finish();
		}
		if (!/^\s*$|^\s*\||^#/.test(line)) {
			start = paragraph === "" ? index + 1 : start;
			paragraph += ` ${item ? line.slice(item[0].length) : line}`;
		}
	}
	finish();
	return sentences;
}

/** The anchors of a page's headings, as GitHub makes them. */
export function anchorsOf(markdown: string): Set<string> {
	const headings = [...withoutCode(markdown).matchAll(/^#+ +(.*)$/gm)].map(([, heading]) => heading as string);
	const anchors = new Anchors();
	return new Set(headings.map((heading) => anchors.make(heading)));
}

/** The targets of a page's links and pictures, with their anchors. */
export function linksOf(markdown: string): string[] {
	const text = withoutCode(markdown.replace(/<img src="([^"]*)"[^>]*>/g, "[]($1)")).replace(/`[^`\n]*`/g, "");
	return [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target as string);
}

/** What a page has that its readers would stumble over, each with its line. */
export function problemsOf(markdown: string): string[] {
	const paragraphs = new Map<number, number>();
	const problems: string[] = [];
	for (const { line, text } of sentencesOf(markdown)) {
		const words = text.split(" ").length;
		paragraphs.set(line, (paragraphs.get(line) ?? 0) + words);
		if (words > MAX_WORDS) {
			problems.push(`${line}: ${words} words: ${text}`);
		}
	}
	for (const [line, words] of paragraphs) {
		if (words > MAX_PARAGRAPH) {
			problems.push(`${line}: a paragraph of ${words} words`);
		}
	}
	for (const [index, text] of markdown.split("\n").entries()) {
		for (const [words, better] of FORBIDDEN.filter(([each]) => each.test(text))) {
			problems.push(`${index + 1}: "${words.exec(text)?.[0]}" (better: ${better})`);
		}
	}
	return problems;
}
