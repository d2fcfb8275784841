/** Characters of one text of a device that are shown. */
const MAX_SHOWN = 20_000;

// Control characters but line feed and tab; marks that reverse or hide text.
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern finds exactly these
const INVISIBLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/**
 * Makes control characters in a device's text visible, because they could hide or reorder it. Cuts longer texts.
 */
export function visible(text: string): string {
	const shown = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}… (${text.length})` : text;
	return shown.replace(INVISIBLE, (character) => {
		const code = character.charCodeAt(0);
		return code < 0x20 ? String.fromCharCode(0x2400 + code) : `\\u${code.toString(16).padStart(4, "0")}`;
	});
}

/** The same in one line. */
export function visibleLine(text: string): string {
	return visible(text).replace(/[\n\t]/g, (character) => (character === "\n" ? "␊" : "␉"));
}
