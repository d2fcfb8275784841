/** A word: plain characters and quoted parts side by side, as in question="What is this?". A lone quote is a character. */
const WORD = /(?:[^\s"']|"[^"]*"|'[^']*'|["'])+/g;

/** Splits a command at spaces and takes the quotes away, as a shell does. No other character has a meaning. */
export function splitWords(text: string): string[] {
	return (text.match(WORD) ?? []).map((word) => word.replace(/"([^"]*)"|'([^']*)'/g, "$1$2"));
}
