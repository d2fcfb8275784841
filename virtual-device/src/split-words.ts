/** A word: plain characters and quoted parts side by side, as in question="What is this?". A lone quote is a character. */
const WORD = /(?:[^\s"']|"[^"]*"|'[^']*'|["'])+/g;

/** A word, or its value, that is in quotes as a whole. */
const QUOTED = /^([^"'=]*=)?(?:"([^"]*)"|'([^']*)')$/;

/**
 * Splits a command at spaces. Quotes around a word or its value are taken away; others are part of it, so that JSON needs
 * none around it: choices=["yes","no"]. No other character has a meaning.
 */
export function splitWords(text: string): string[] {
	return (text.match(WORD) ?? []).map((word) => word.replace(QUOTED, "$1$2$3"));
}
