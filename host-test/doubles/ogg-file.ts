/** Segments of a packet: RFC 3533, section 5. */
const FULL_SEGMENT = 255;

const ascii = (text: string): number[] => Array.from(text, (letter) => letter.charCodeAt(0));

/** The head of a stream with one channel, and its tags: RFC 7845, section 5. */
export const OPUS_HEAD = Uint8Array.from([...ascii("OpusHead"), 1, 1, 0, 0, 0x80, 0x3e, 0, 0, 0, 0, 0]);
export const OPUS_TAGS = Uint8Array.from([...ascii("OpusTags"), ...new Array<number>(600).fill(7)]);

/** Makes an Ogg file without checksums. Each packet starts a new page, which has at most `most` segments. */
export function oggFile(packets: readonly Uint8Array[], most = 255, serial = 9): Uint8Array {
	const file: number[] = [];
	for (const packet of packets) {
		const segments: number[] = [];
		for (let left = packet.byteLength; left >= 0; left -= FULL_SEGMENT) {
			segments.push(Math.min(left, FULL_SEGMENT));
		}
		for (let at = 0; at < segments.length; at += most) {
			const table = segments.slice(at, at + most);
			const begin = at * FULL_SEGMENT;
			const bytes = packet.subarray(begin, begin + table.reduce((sum, size) => sum + size, 0));
			file.push(...ascii("OggS"), 0, at === 0 ? 0 : 1, ...new Array<number>(8).fill(0), 0, 0, 0, serial);
			file.push(...new Array<number>(8).fill(0), table.length, ...table);
			// Spread, a long packet would overflow the stack of XS.
			for (const byte of bytes) {
				file.push(byte);
			}
		}
	}
	return Uint8Array.from(file);
}
