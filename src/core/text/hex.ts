/** Bytes as hexadecimal digits, two a byte. XS from npm (13.3) has no `Uint8Array.prototype.toHex`. */
export const toHex = (bytes: ArrayBuffer): string =>
	Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");

/** @returns undefined if the text is anything but pairs of hexadecimal digits */
export const fromHex = (text: string): ArrayBuffer | undefined => {
	if (!/^([0-9a-fA-F]{2})*$/.test(text)) {
		return undefined;
	}
	const bytes = new Uint8Array(text.length / 2);
	for (let at = 0; at < bytes.length; at += 1) {
		bytes[at] = Number.parseInt(text.slice(2 * at, 2 * at + 2), 16);
	}
	return bytes.buffer;
};
