/** Returns the length of a string in UTF-8 bytes. A lone surrogate counts as the three bytes of its replacement. */
export const utf8Length = (text: string): number => {
	let bytes = 0;
	for (const character of text) {
		const code = character.codePointAt(0) as number;
		bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
	}
	return bytes;
};
