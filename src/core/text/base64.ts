const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** Encodes base64 (RFC 4648 §4), natively where the engine can, as XS on a chip does. */
export const toBase64 = (bytes: ArrayBuffer): string => {
	const array = new Uint8Array(bytes) as Uint8Array & { toBase64?(): string };
	return array.toBase64?.() ?? encode(array);
};

/** Decodes padded base64. Not `Uint8Array.fromBase64`, which XS from npm lacks. @returns undefined if not valid */
export const fromBase64 = (text: string): Uint8Array | undefined => {
	if (!/^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text)) {
		return undefined;
	}
	const digits = text.replace(/=+$/, "");
	const bytes = new Uint8Array(Math.floor((digits.length * 6) / 8));
	let bits = 0;
	let count = 0;
	let at = 0;
	for (const digit of digits) {
		bits = ((bits << 6) | DIGITS.indexOf(digit)) & 0xfff;
		count += 6;
		if (count >= 8) {
			count -= 8;
			bytes[at++] = bits >> count;
		}
	}
	return bytes;
};

/** Number of base64 characters for a number of bytes. */
export const base64Length = (bytes: number): number => Math.ceil(bytes / 3) * 4;

/** Fills a buffer and converts it once: XS would copy a growing string at each step. */
const encode = (bytes: Uint8Array): string => {
	const digits = new Uint8Array(ArrayBuffer.fromString(DIGITS));
	const text = new Uint8Array(base64Length(bytes.length)).fill("=".charCodeAt(0));
	for (let at = 0; at * 6 < bytes.length * 8; at += 1) {
		const byte = (at * 6) >> 3;
		const pair = ((bytes[byte] as number) << 8) | (bytes[byte + 1] ?? 0);
		text[at] = digits[(pair >> (10 - ((at * 6) & 7))) & 63] as number;
	}
	return String.fromArrayBuffer(text.buffer);
};
