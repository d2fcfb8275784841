// Ogg Opus files (RFC 3533, RFC 7845), the subset that opusenc writes.

const HEAD = 27;
const MAX_SEGMENT = 255;

export function readOgg(file: Uint8Array): Uint8Array[] {
	const packets: Uint8Array[] = [];
	let begun: number[] = [];
	for (let at = 0; at < file.length; ) {
		const table = file.subarray(at + HEAD, at + HEAD + (file[at + HEAD - 1] as number));
		at += HEAD + table.length;
		for (const size of table) {
			begun.push(...file.subarray(at, at + size));
			at += size;
			if (size < MAX_SEGMENT) {
				packets.push(Uint8Array.from(begun));
				begun = [];
			}
		}
	}
	return packets.slice(2);
}
