/** The checksum of PNG's chunks and of ESP-IDF's stored settings. Node has one since 20.15 only. */
export function crc32(bytes: Uint8Array, start = 0): number {
	let crc = ~start >>> 0;
	for (const byte of bytes) {
		crc ^= byte;
		for (let bit = 0; bit < 8; bit += 1) {
			crc = (crc >>> 1) ^ (crc & 1 ? 0xedb8_8320 : 0);
		}
	}
	return ~crc >>> 0;
}
