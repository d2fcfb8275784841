// Ogg Opus files (RFC 3533, RFC 7845), as far as opusenc and opusdec need them.

const HEAD = 27;
const MAX_SEGMENT = 255;

/** Samples that a decoder leaves out at the start, at 48 kHz: RFC 7845, section 5.1. */
const PRE_SKIP = 312;

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

/** @param frameDuration milliseconds of a packet */
export function writeOgg(packets: readonly Uint8Array[], sampleRate: number, frameDuration: number): Buffer {
	const head = Buffer.alloc(19);
	head.write("OpusHead");
	head.writeUInt8(1, 8);
	head.writeUInt8(1, 9);
	head.writeUInt16LE(PRE_SKIP, 10);
	head.writeUInt32LE(sampleRate, 12);
	const tags = Buffer.alloc(16);
	tags.write("OpusTags");
	const all = [head, tags, ...packets];
	return Buffer.concat(all.map((packet, index) => page(packet, index, all.length, frameDuration)));
}

function page(packet: Uint8Array, index: number, count: number, frameDuration: number): Buffer {
	const sizes = [...new Array(Math.floor(packet.length / MAX_SEGMENT)).fill(MAX_SEGMENT), packet.length % MAX_SEGMENT];
	const head = Buffer.alloc(HEAD);
	head.write("OggS");
	head.writeUInt8(index === 0 ? 2 : index === count - 1 ? 4 : 0, 5);
	head.writeBigUInt64LE(BigInt(Math.max(0, index - 1) * frameDuration * 48), 6);
	head.writeUInt32LE(1, 14);
	head.writeUInt32LE(index, 18);
	head.writeUInt8(sizes.length, HEAD - 1);
	const whole = Buffer.concat([head, Buffer.from(sizes), packet]);
	whole.writeUInt32LE(checksum(whole), 22);
	return whole;
}

/** RFC 3533, section 6: a CRC with the polynomial 0x04c11db7, not reflected. */
function checksum(bytes: Uint8Array): number {
	let crc = 0;
	for (const byte of bytes) {
		crc ^= byte << 24;
		for (let bit = 0; bit < 8; bit += 1) {
			crc = crc & 0x80000000 ? (crc << 1) ^ 0x04c11db7 : crc << 1;
		}
	}
	return crc >>> 0;
}
