/** Maximum UTF-8 bytes of a UTF-16 unit. */
export const MAX_BYTES_PER_UNIT = 3;

/** Returns the length of a string in UTF-8 bytes. A lone surrogate counts as the three bytes of its replacement. */
export const utf8Length = (text: string): number => {
	let bytes = 0;
	for (const character of text) {
		const code = character.codePointAt(0) as number;
		bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
	}
	return bytes;
};

/** Whether a text has at most this many bytes of UTF-8. Native, because XS takes long to count the bytes of a long text. */
export const fitsUtf8 = (text: string, bytes: number): boolean =>
	text.length * MAX_BYTES_PER_UNIT <= bytes ||
	(text.length <= bytes && ArrayBuffer.fromString(text).byteLength <= bytes);
