import { ByteReader } from "../../core/text/byte-reader.js";

// Files of Ogg Opus (RFC 3533, RFC 7845) that are played while they arrive.

/** Milliseconds of a frame by configuration, the first five bits of a packet: RFC 6716, section 3.1. */
const SILK: readonly number[] = Object.freeze([10, 20, 40, 60]);
const HYBRID: readonly number[] = Object.freeze([10, 20]);
const CELT: readonly number[] = Object.freeze([2.5, 5, 10, 20]);

/** Milliseconds of sound that a packet may have: RFC 6716, section 3.2.5. */
const MAX_DURATION = 120;

/**
 * Reads the duration of a packet of Opus from its first two bytes.
 *
 * @returns milliseconds
 * @throws RangeError if it is not an Opus packet
 */
export const packetDuration = (packet: Uint8Array): number => {
	const [toc = 0, count = 0] = packet;
	const configuration = toc >> 3;
	const durations = configuration < 12 ? SILK : configuration < 16 ? HYBRID : CELT;
	const code = toc & 3;
	const frames = code === 3 ? count & 0x3f : code === 0 ? 1 : 2;
	const duration = frames * (durations[configuration % durations.length] as number);
	if (packet.byteLength === 0 || duration === 0 || duration > MAX_DURATION) {
		throw new RangeError("no packet of Opus");
	}
	return duration;
};

/** Bytes of a page's header before its table, with the number of segments in the last one. */
const PAGE_BYTES = 27;

/** Positions in a page's header. */
const FLAGS = 5;
const SERIAL = 14;

/** Flag of a page that continues a packet. */
const CONTINUED = 1;

/** Bytes of a segment whose packet continues in the next one: RFC 3533, section 5. */
const FULL_SEGMENT = 255;

/** Bytes of a packet of sound. RFC 6716 allows 1,275 for a frame. */
const MAX_PACKET_BYTES = 4_000;

/** Packets of a stream before its sound: "OpusHead" and "OpusTags", which may be long and is not read. */
const HEAD = 0;
const TAGS = 1;

/** Splits a file of Ogg Opus with one stream into its packets of sound. Checksums are not verified. */
export class OggOpusReader {
	private readonly reader = new ByteReader();
	/** Sizes of the page's segments that are still to be read. */
	private segments = new Uint8Array(0);
	private packet = new Uint8Array(MAX_PACKET_BYTES);
	private length = 0;
	/** Number of complete packets. */
	private count = 0;
	private serial: number | undefined;

	/** Adds the next bytes of the file. The packets before them have been read. */
	add(bytes: Uint8Array): void {
		this.reader.push(bytes);
	}

	/**
	 * Reads the next packet of sound.
	 *
	 * @returns a copy; undefined until more bytes are added
	 * @throws RangeError that names the fault
	 */
	next(): Uint8Array | undefined {
		for (;;) {
			const [size] = this.segments;
			const bytes = size === undefined ? this.readHeader() : this.reader.read(size);
			if (bytes === undefined) {
				return undefined;
			}
			const packet = size === undefined ? undefined : this.addSegment(bytes);
			if (packet !== undefined) {
				return packet;
			}
		}
	}

	/** Whether the file may end here. */
	get isWhole(): boolean {
		return this.reader.available + this.segments.byteLength + this.length === 0 && this.count > TAGS;
	}

	private readHeader(): Uint8Array | undefined {
		const { reader } = this;
		const header = reader.peek(PAGE_BYTES);
		if (header === undefined) {
			return undefined;
		}
		if (String.fromCharCode(...header.subarray(0, 5)) !== "OggS\0") {
			throw new RangeError("not an Ogg file");
		}
		const serial = new DataView(header.buffer, header.byteOffset).getUint32(SERIAL);
		if (serial !== (this.serial ?? serial)) {
			throw new RangeError("Ogg: more than one stream");
		}
		this.serial = serial;
		if (((header[FLAGS] as number) & CONTINUED) === 0 && this.length > 0) {
			throw new RangeError("Ogg: a packet without its end");
		}
		const whole = reader.read(PAGE_BYTES + (header[PAGE_BYTES - 1] as number));
		this.segments = whole?.slice(PAGE_BYTES) ?? this.segments;
		return whole;
	}

	/** @returns the packet that ends with the segment; undefined if there is none, or it is empty or before the sound */
	private addSegment(bytes: Uint8Array): Uint8Array | undefined {
		const { count } = this;
		this.segments = this.segments.subarray(1);
		if (count !== TAGS) {
			if (this.length + bytes.byteLength > MAX_PACKET_BYTES) {
				throw new RangeError(`Ogg: a packet of more than ${MAX_PACKET_BYTES} bytes`);
			}
			this.packet.set(bytes, this.length);
		}
		this.length += bytes.byteLength;
		if (bytes.byteLength === FULL_SEGMENT) {
			return undefined;
		}
		const packet = this.packet.slice(0, this.length);
		this.count += 1;
		this.length = 0;
		if (count === HEAD && String.fromCharCode(...packet.subarray(0, 8)) !== "OpusHead") {
			throw new RangeError("Ogg: not a stream of Opus");
		}
		return count > TAGS && packet.byteLength > 0 ? packet : undefined;
	}
}
