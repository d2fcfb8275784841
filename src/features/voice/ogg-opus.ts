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
 * @throws RangeError if it is no packet of Opus
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
	private readonly header = new Uint8Array(PAGE_BYTES + FULL_SEGMENT);
	private filled = 0;
	/** Segment of the page, and bytes of it that are still to come. Within a header the segment is -1. */
	private segment = -1;
	private left = 0;
	private packet = new Uint8Array(MAX_PACKET_BYTES);
	private length = 0;
	/** Packets that have ended. */
	private count = 0;
	private serial: number | undefined;
	/** Bytes of the file that are still to be read. */
	private unread = new Uint8Array(0);

	/** Adds the next bytes of the file. The packets before them have been read. */
	add(bytes: Uint8Array<ArrayBuffer>): void {
		this.unread = bytes;
	}

	/**
	 * Reads the next packet of sound.
	 *
	 * @returns a copy; undefined until more bytes are added
	 * @throws RangeError that names the fault
	 */
	next(): Uint8Array | undefined {
		let packet: Uint8Array | undefined;
		// A segment may have no bytes.
		while (packet === undefined && (this.unread.byteLength > 0 || (this.segment >= 0 && this.left === 0))) {
			if (this.segment < 0) {
				this.readHeader();
			} else {
				packet = this.readSegment();
			}
		}
		return packet;
	}

	/** Whether the file may end here. */
	get isWhole(): boolean {
		return this.filled === 0 && this.length === 0 && this.count > TAGS;
	}

	/** Takes at most this many of the unread bytes. */
	private take(most: number): Uint8Array {
		const piece = this.unread.subarray(0, most);
		this.unread = this.unread.subarray(piece.byteLength);
		return piece;
	}

	private readHeader(): void {
		const { header } = this;
		const wanted = this.filled < PAGE_BYTES ? PAGE_BYTES : PAGE_BYTES + this.segments;
		const piece = this.take(wanted - this.filled);
		header.set(piece, this.filled);
		this.filled += piece.byteLength;
		if (this.filled === PAGE_BYTES) {
			this.checkPage();
		}
		if (this.filled >= PAGE_BYTES && this.filled === PAGE_BYTES + this.segments) {
			this.nextSegment();
		}
	}

	private get segments(): number {
		return this.header[PAGE_BYTES - 1] as number;
	}

	private checkPage(): void {
		const { header } = this;
		if (String.fromCharCode(...header.subarray(0, 4)) !== "OggS" || header[4] !== 0) {
			throw new RangeError("not an Ogg file");
		}
		const serial = new DataView(header.buffer).getUint32(SERIAL);
		if (serial !== (this.serial ?? serial)) {
			throw new RangeError("Ogg: more than one stream");
		}
		this.serial = serial;
		if (((header[FLAGS] as number) & CONTINUED) === 0 && this.length > 0) {
			throw new RangeError("Ogg: a packet without its end");
		}
	}

	private nextSegment(): void {
		this.segment += 1;
		this.left = this.header[PAGE_BYTES + this.segment] as number;
		if (this.segment >= this.segments) {
			this.segment = -1;
			this.filled = 0;
		}
	}

	private readSegment(): Uint8Array | undefined {
		const piece = this.take(this.left);
		if (this.count !== TAGS) {
			if (this.length + piece.byteLength > MAX_PACKET_BYTES) {
				throw new RangeError(`Ogg: a packet of more than ${MAX_PACKET_BYTES} bytes`);
			}
			this.packet.set(piece, this.length);
		}
		this.length += piece.byteLength;
		this.left -= piece.byteLength;
		if (this.left > 0) {
			return undefined;
		}
		const isEnd = this.header[PAGE_BYTES + this.segment] !== FULL_SEGMENT;
		this.nextSegment();
		return isEnd ? this.endPacket() : undefined;
	}

	/** @returns the packet; undefined if it is empty, or comes before the sound */
	private endPacket(): Uint8Array | undefined {
		const { count, length } = this;
		this.count += 1;
		this.length = 0;
		if (count === HEAD && String.fromCharCode(...this.packet.subarray(0, Math.min(length, 8))) !== "OpusHead") {
			throw new RangeError("Ogg: not a stream of Opus");
		}
		return count > TAGS && length > 0 ? this.packet.slice(0, length) : undefined;
	}
}
