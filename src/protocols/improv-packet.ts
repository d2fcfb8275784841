/** Types of packets (https://www.improv-wifi.com/serial/). */
export const PACKET = Object.freeze({ state: 0x01, error: 0x02, command: 0x03, result: 0x04 } as const);

export type PacketType = (typeof PACKET)[keyof typeof PACKET];

/** "IMPROV", and the version of the protocol. */
const HEADER = Object.freeze([0x49, 0x4d, 0x50, 0x52, 0x4f, 0x56, 0x01]);

/** Offsets in a packet: type, length of the data, data. */
const TYPE = 7;
const LENGTH = 8;
const DATA = 9;

const MAX_DATA_BYTES = 255;
const NEW_LINE = 0x0a;

/** Makes a packet, followed by the line end that the protocol recommends. @param data at most 255 bytes */
export const makePacket = (type: PacketType, data: readonly number[]): Uint8Array => {
	const bytes = Uint8Array.from([...HEADER, type, data.length, ...data, 0, NEW_LINE]);
	bytes[DATA + data.length] = checksum(bytes, DATA + data.length);
	return bytes;
};

interface PacketEvents {
	onPacket(type: number, data: Uint8Array): void;
	/** A packet arrived damaged. */
	onDamaged(): void;
}

/** Finds packets in a byte stream, which may be cut anywhere and have other bytes between packets. */
export class PacketReader {
	private readonly events: PacketEvents;
	private readonly bytes = new Uint8Array(DATA + MAX_DATA_BYTES);
	private count = 0;

	constructor(events: PacketEvents) {
		this.events = events;
	}

	read(bytes: Uint8Array): void {
		for (const byte of bytes) {
			this.take(byte);
		}
	}

	private take(byte: number): void {
		const at = this.count;
		const end = DATA + (this.bytes[LENGTH] as number);
		if (at < HEADER.length && byte !== HEADER[at]) {
			// The first letter of the header does not recur in it.
			this.count = byte === HEADER[0] ? 1 : 0;
			this.bytes[0] = byte;
		} else if (at >= DATA && at === end) {
			this.count = 0;
			if (byte === checksum(this.bytes, end)) {
				this.events.onPacket(this.bytes[TYPE] as number, this.bytes.slice(DATA, end));
			} else {
				this.events.onDamaged();
			}
		} else {
			this.bytes[at] = byte;
			this.count = at + 1;
		}
	}
}

const checksum = (bytes: Uint8Array, end: number): number => {
	let sum = 0;
	for (let at = 0; at < end; at += 1) {
		sum += bytes[at] as number;
	}
	return sum & 0xff;
};
