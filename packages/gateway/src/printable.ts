/** Control characters (C0, DEL, C1) except tab and line feed, and characters that change the direction of text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what this is about
const UNPRINTABLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/**
 * A text for a terminal: devices choose names, descriptions and messages, and could move the cursor or change the colours.
 * Control characters become escapes like `\u001b`, which JSON still reads as the same. Tabs and line feeds stay.
 */
export function printable(text: string): string {
	return text.replace(UNPRINTABLE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** The same, on one line. */
export function printableLine(text: string): string {
	return printable(text).replaceAll("\n", "\\n").replaceAll("\t", "\\t");
}
