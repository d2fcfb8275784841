import { deepFreeze } from "../../core/text/deep-freeze.js";

// Files of Ogg Opus (RFC 3533, RFC 7845) that are played while they arrive.

/** Milliseconds of a frame by configuration, the first five bits of a packet: RFC 6716, section 3.1. */
const SILK: readonly number[] = deepFreeze([10, 20, 40, 60]);
const HYBRID: readonly number[] = deepFreeze([10, 20]);
const CELT: readonly number[] = deepFreeze([2.5, 5, 10, 20]);

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

/** Flag of a page that begins within a packet. */
const CONTINUED = 1;

/** Bytes of a segment after which its packet goes on: RFC 3533, section 5. */
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

	/**
	 * Reads the next bytes of the file.
	 *
	 * @returns packets of sound, copied
	 * @throws RangeError that names the fault
	 */
	read(bytes: Uint8Array): readonly Uint8Array[] {
		const packets: Uint8Array[] = [];
		// A segment may have no bytes.
		for (let at = 0; at < bytes.byteLength || (this.segment >= 0 && this.left === 0); ) {
			at += this.segment < 0 ? this.takeHeader(bytes, at) : this.takeSegment(bytes, at, packets);
		}
		return packets;
	}

	/** Whether the file may end here. */
	get isWhole(): boolean {
		return this.filled === 0 && this.length === 0 && this.count > TAGS;
	}

	private takeHeader(bytes: Uint8Array, at: number): number {
		const { header } = this;
		const wanted = this.filled < PAGE_BYTES ? PAGE_BYTES : PAGE_BYTES + this.segments;
		const piece = bytes.subarray(at, at + wanted - this.filled);
		header.set(piece, this.filled);
		this.filled += piece.byteLength;
		if (this.filled === PAGE_BYTES) {
			this.checkPage();
		}
		if (this.filled >= PAGE_BYTES && this.filled === PAGE_BYTES + this.segments) {
			this.nextSegment();
		}
		return piece.byteLength;
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

	private takeSegment(bytes: Uint8Array, at: number, packets: Uint8Array[]): number {
		const piece = bytes.subarray(at, at + this.left);
		if (this.count !== TAGS) {
			if (this.length + piece.byteLength > MAX_PACKET_BYTES) {
				throw new RangeError(`Ogg: a packet of more than ${MAX_PACKET_BYTES} bytes`);
			}
			this.packet.set(piece, this.length);
		}
		this.length += piece.byteLength;
		this.left -= piece.byteLength;
		if (this.left === 0) {
			if (this.header[PAGE_BYTES + this.segment] !== FULL_SEGMENT) {
				this.endPacket(packets);
			}
			this.nextSegment();
		}
		return piece.byteLength;
	}

	private endPacket(packets: Uint8Array[]): void {
		const packet = this.packet.slice(0, this.count === TAGS ? 0 : this.length);
		this.length = 0;
		if (this.count === HEAD && String.fromCharCode(...packet.subarray(0, 8)) !== "OpusHead") {
			throw new RangeError("Ogg: not a stream of Opus");
		}
		if (this.count > TAGS) {
			packets.push(packet);
		}
		this.count += 1;
	}
}
