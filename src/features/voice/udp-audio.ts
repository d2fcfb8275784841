import { fromHex } from "../../core/text/hex.js";
import { isObject } from "../../core/text/json.js";
import type { UdpRecord } from "../../protocols/udp-socket.js";
import { packetDuration } from "./ogg-opus.js";

/** The audio channel that a backend offers over MQTT: the member `udp` of its hello. */
export interface UdpSettings {
	readonly server: string;
	readonly port: number;
	/** 16 bytes each. */
	readonly key: Uint8Array;
	readonly nonce: Uint8Array;
}

/** An open audio channel over UDP. */
export interface UdpChannel {
	/** Sends a packet of Opus. @param timestamp milliseconds */
	send(packet: Uint8Array, timestamp: number): void;
	close(): void;
}

/** Opens an audio channel over UDP. */
export type OpenUdp = (
	settings: UdpSettings,
	events: {
		/** A packet of Opus, with its timestamp; an empty one, with 0, for each that was lost. */
		onPacket(packet: Uint8Array, timestamp: number): void;
		/** A datagram was dropped. */
		onDropped(reason: string): void;
		/** The channel has failed, and carries no audio. */
		onFailed(reason: string): void;
	},
) => UdpChannel;

/** Makes the cipher AES-128-CTR of a key, which both encrypts and decrypts. The counter has 16 bytes. */
export type AesCtr = (key: Uint8Array) => (counter: Uint8Array, bytes: Uint8Array) => Uint8Array;

/** Bytes of the header, which is also the counter: type (8 bits), flags (8), size (16), source (32), timestamp (32), sequence (32). */
const HEADER = 16;
const SIZE = 2;
const TIMESTAMP = 8;
const SEQUENCE = 12;

/** The only type. */
const OPUS = 1;

/** Maximum bytes of a packet: they fit into a datagram on any network, and speech needs far fewer. */
const MAX_PACKET_BYTES = 1_400;

/** Maximum number of lost packets to report. A longer gap is silent anyway. */
const MAX_LOST = 3;

/** Maximum packets that a number may be ahead of the last one, or a late one behind it: 3 s of speech. */
const MAX_AHEAD = 50;

/** Number and milliseconds of a packet. */
interface Received {
	readonly number: number;
	readonly duration: number;
}

/** Reads the audio channel of a backend's hello. @throws RangeError that names the member */
export const readUdpSettings = (udp: unknown): UdpSettings => {
	const { server, port, key, nonce } = isObject(udp) ? udp : {};
	if (typeof server !== "string" || server === "") {
		throw new RangeError("udp.server: expected a hostname or address");
	}
	if (typeof port !== "number" || !Number.isInteger(port) || port < 1 || port > 65_535) {
		throw new RangeError("udp.port: expected a number from 1 to 65535");
	}
	return { server, port, key: readBytes("key", key), nonce: readBytes("nonce", nonce) };
};

/** The value is a secret, so the error does not quote it. */
const readBytes = (name: string, value: unknown): Uint8Array => {
	const bytes = typeof value === "string" ? fromHex(value) : undefined;
	if (bytes?.byteLength !== HEADER) {
		throw new RangeError(`udp.${name}: expected 32 hexadecimal digits`);
	}
	return new Uint8Array(bytes);
};

/** The datagrams of an audio channel, in both directions. */
export class UdpAudio {
	private readonly nonce: Uint8Array;
	private readonly cipher: ReturnType<AesCtr>;
	private sent = 0;
	/** Timestamps whose counters overlap those of later packets, with the first packet that they do not reach. */
	private readonly used = new Map<number, number>();
	private last: Received | undefined;
	/** The last packet that was rejected because it does not follow `last`. */
	private rejected: Received | undefined;

	constructor({ key, nonce }: Pick<UdpSettings, "key" | "nonce">, aesCtr: AesCtr) {
		this.nonce = nonce;
		this.cipher = aesCtr(key);
	}

	/**
	 * Makes the datagram of a packet.
	 *
	 * The header is the first counter of the cipher, which increments it for each 16 bytes. The timestamp of a packet
	 * shortly before would reuse its key stream, so the next free one replaces it.
	 *
	 * @param timestamp milliseconds; the lower 32 bits are sent
	 * @throws RangeError if the packet is too long
	 */
	seal(packet: Uint8Array, timestamp: number): Uint8Array {
		checkSize(packet.byteLength);
		const datagram = new Uint8Array(HEADER + packet.byteLength);
		datagram.set(this.nonce);
		const view = new DataView(datagram.buffer);
		this.sent += 1;
		view.setUint16(SIZE, packet.byteLength);
		view.setUint32(TIMESTAMP, this.takeTimestamp(timestamp >>> 0, packet.byteLength));
		view.setUint32(SEQUENCE, this.sent);
		datagram.set(this.cipher(datagram.slice(0, HEADER), packet), HEADER);
		return datagram;
	}

	/**
	 * Reserves the counters of a packet: one for each 16 bytes, from its number on.
	 *
	 * @returns the wanted timestamp, or the next one whose counters are free
	 */
	private takeTimestamp(wanted: number, bytes: number): number {
		const { used, sent } = this;
		for (const [timestamp, end] of used) {
			if (end <= sent) {
				used.delete(timestamp);
			}
		}
		let timestamp = wanted;
		while (used.has(timestamp)) {
			timestamp = (timestamp + 1) >>> 0;
		}
		used.set(timestamp, sent + Math.ceil(bytes / HEADER));
		return timestamp;
	}

	/**
	 * Reads a datagram. Nothing in it proves its origin. A rejected one does not advance the sequence.
	 *
	 * @returns the packet, its timestamp, and how many before it were lost, at most 3
	 * @throws RangeError that names the fault
	 */
	open(datagram: Uint8Array): { readonly packet: Uint8Array; readonly timestamp: number; readonly lost: number } {
		if (datagram.byteLength <= HEADER) {
			throw new RangeError(`${datagram.byteLength} bytes, no more than a header`);
		}
		const view = new DataView(datagram.buffer, datagram.byteOffset, datagram.byteLength);
		const [type, size, number] = [view.getUint8(0), view.getUint16(SIZE), view.getUint32(SEQUENCE)];
		if (type !== OPUS) {
			throw new RangeError(`type ${type}, not Opus (${OPUS})`);
		}
		if (size !== datagram.byteLength - HEADER) {
			throw new RangeError(`${datagram.byteLength - HEADER} bytes after a header for ${size}`);
		}
		checkSize(size);
		const { last } = this;
		const packet = this.cipher(datagram.slice(0, HEADER), datagram.subarray(HEADER));
		this.accept({ number, duration: packetDuration(packet) });
		const lost = last === undefined ? 0 : Math.max(0, Math.min(MAX_LOST, steps(last.number, number) - 1));
		return { packet, timestamp: view.getUint32(TIMESTAMP), lost };
	}

	/**
	 * Accepts a packet that follows the last one, or that follows the rejected one before it, like RFC 3550, appendix A.1.
	 * A packet with a wrong key decrypts to noise, which may look like Opus. Accepted, it would make the sender's late.
	 *
	 * A sender may restart its count: then two packets with consecutive numbers are needed, far behind or at the start.
	 * Others are late or repeated. A recorded pair can be replayed too. It is heard, and costs the sender one packet.
	 */
	private accept(received: Received): void {
		const { last, rejected } = this;
		const { number, duration } = received;
		const ahead = last === undefined ? number + 1 : steps(last.number, number);
		const isAnew = number <= 2 || ahead < -MAX_AHEAD;
		const isSecond =
			rejected !== undefined &&
			follows(received, rejected) &&
			(ahead > 0 || (isAnew && steps(rejected.number, number) === 1));
		if (!follows(received, last) && !isSecond) {
			this.rejected = received;
			throw new RangeError(
				ahead > 0 && ahead <= MAX_AHEAD
					? `${duration} ms, not ${last?.duration} as before, or a wrong key`
					: `number ${number}, ${number > (last?.number ?? -1) ? "too far " : ""}after ${last?.number ?? "the start"}`,
			);
		}
		this.rejected = undefined;
		this.last = received;
	}
}

/** Returns the signed distance of two sequence numbers, which wrap at 32 bits. */
const steps = (from: number, to: number): number => (to - from) | 0;

/** Whether a packet may follow another, or come first. If its duration differs, it must have the next number. */
const follows = ({ number, duration }: Received, before: Received = { number: -1, duration }): boolean => {
	const ahead = steps(before.number, number);
	return ahead === 1 || (ahead > 1 && ahead <= MAX_AHEAD && duration === before.duration);
};

const checkSize = (bytes: number): void => {
	if (bytes > MAX_PACKET_BYTES) {
		throw new RangeError(`${bytes} bytes (limit ${MAX_PACKET_BYTES})`);
	}
};

/** An empty packet, which the decoder conceals as a lost one. */
const LOST = new Uint8Array(0);

/** Resolves hostnames. Dotted addresses resolve to themselves. */
interface Dns {
	resolve(options: { host: string; onResolved(host: string, address: string): void; onError(): void }): void;
}

/** Opens audio channels with ECMA-419's UDP socket. Datagrams from elsewhere than the backend are ignored. */
export const udpOpener =
	({ io }: UdpRecord, dns: Dns, aesCtr: AesCtr): OpenUdp =>
	(settings, { onPacket, onDropped, onFailed }) => {
		const { server, port } = settings;
		const audio = new UdpAudio(settings, aesCtr);
		let isOpen = true;
		let address: string | undefined;
		/** The latest packet to send once the address is known, and its timestamp. */
		let waiting: readonly [packet: Uint8Array, timestamp: number] | undefined;
		const receive = (): void => {
			try {
				const datagram = socket.read();
				if (datagram === undefined || datagram.address !== address || datagram.port !== port) {
					return;
				}
				const { packet, timestamp, lost } = audio.open(new Uint8Array(datagram));
				for (let count = 0; count < lost; count += 1) {
					onPacket(LOST, 0);
				}
				onPacket(packet, timestamp);
			} catch (error) {
				onDropped((error as Error).message);
			}
		};
		const socket = new io({
			port: 0,
			onReadable(count) {
				for (let left = count; isOpen && left > 0; left -= 1) {
					receive();
				}
			},
		});
		const send = (packet: Uint8Array, timestamp: number): void => {
			waiting = [packet, timestamp];
			if (address === undefined) {
				return;
			}
			try {
				socket.write(audio.seal(packet, timestamp).buffer as ArrayBuffer, address, port);
			} catch (error) {
				onDropped((error as Error).message);
			}
		};
		const close = (): void => {
			isOpen = false;
			socket.close();
		};
		try {
			dns.resolve({
				host: server,
				onResolved(_host, found) {
					address = found;
					if (isOpen && waiting !== undefined) {
						send(...waiting);
					}
				},
				onError() {
					if (isOpen) {
						onFailed(`${server}: address not found`);
					}
				},
			});
		} catch (error) {
			close();
			throw error;
		}
		return { send, close };
	};
