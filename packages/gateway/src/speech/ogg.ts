/** Packets on a page: about a second. */
const PER_PAGE = 16;

/** Flags of a page: first or last of its stream. */
const FIRST = 2;
const LAST = 4;

/** Hertz of positions in every stream of Opus: RFC 7845, section 4. */
const POSITION_RATE = 48_000;

/** Samples at that rate by which libopus is late. */
const PRE_SKIP = 312;

/** Bytes of a segment whose packet continues in the next one: RFC 3533, section 5. */
const FULL_SEGMENT = 255;

/** Remainders of CRC-32 with the polynomial of RFC 3533, section 6. Its bits are not reflected, as those of zlib are. */
const CRC = Uint32Array.from({ length: 256 }, (_, byte) => {
	let remainder = byte << 24;
	for (let bit = 0; bit < 8; bit += 1) {
		remainder = (remainder << 1) ^ (remainder < 0 ? 0x04c1_1db7 : 0);
	}
	return remainder >>> 0;
});

function checksum(bytes: Uint8Array): number {
	let sum = 0;
	for (const byte of bytes) {
		sum = (sum << 8) ^ (CRC[(sum >>> 24) ^ byte] as number);
	}
	return sum >>> 0;
}

/**
 * Makes a file of Ogg Opus with one channel (RFC 3533, RFC 7845).
 *
 * @param packets of the same duration
 * @param rate of the sound before it was encoded, Hertz
 * @param duration of a packet, milliseconds
 */
export function encodeOgg(packets: readonly Uint8Array[], rate: number, duration: number): Buffer {
	const head = Buffer.alloc(19);
	head.write("OpusHead\x01\x01", "latin1");
	head.writeUInt16LE(PRE_SKIP, 10);
	head.writeUInt32LE(rate, 12);
	const vendor = Buffer.from("xs-mcp");
	const tags = Buffer.concat([Buffer.from("OpusTags"), uint32(vendor.length), vendor, uint32(0)]);
	const pages = [page([head], FIRST, 0, 0), page([tags], 0, 0, 1)];
	const samples = (POSITION_RATE * duration) / 1_000;
	for (let at = 0; at < packets.length; at += PER_PAGE) {
		const own = packets.slice(at, at + PER_PAGE);
		const end = at + own.length;
		pages.push(page(own, end === packets.length ? LAST : 0, end * samples, pages.length));
	}
	return Buffer.concat(pages);
}

function uint32(value: number): Buffer {
	const bytes = Buffer.alloc(4);
	bytes.writeUInt32LE(value);
	return bytes;
}

function page(packets: readonly Uint8Array[], flags: number, position: number, number: number): Buffer {
	const segments = packets.flatMap(({ length }) => [
		...new Array<number>(Math.floor(length / FULL_SEGMENT)).fill(FULL_SEGMENT),
		length % FULL_SEGMENT,
	]);
	const header = Buffer.alloc(27);
	header.write("OggS");
	header[5] = flags;
	header.writeUInt32LE(position, 6);
	header.writeUInt32LE(1, 14);
	header.writeUInt32LE(number, 18);
	header[26] = segments.length;
	const bytes = Buffer.concat([header, Uint8Array.from(segments), ...packets]);
	bytes.writeUInt32LE(checksum(bytes), 22);
	return bytes;
}
