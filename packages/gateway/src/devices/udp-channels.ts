import { randomBytes } from "node:crypto";
import { createSocket, type RemoteInfo, type Socket } from "node:dgram";
import { once } from "node:events";
import { isIPv6 } from "node:net";
import type { ServerRegistry } from "xs-mcp-manager/core";
import { aesCtr } from "../../../xs-mcp/src/build/aes-ctr.js";
import { outsideUrlAt } from "../config/listen-address.js";
import { UdpAudio, type UdpSettings } from "../firmware.js";
import { AudioLink } from "./audio-link.js";
import { packetDuration } from "./opus-packet.js";

/** The member `udp` of the gateway's hello. */
interface UdpOffer {
	readonly server: string;
	readonly port: number;
	readonly encryption: "aes-128-ctr";
	readonly key: string;
	readonly nonce: string;
}

/** Bytes of a datagram's header, and where the numbers of its channel and of itself are in it. */
const HEADER_BYTES = 16;
const SOURCE = 4;
const SEQUENCE = 12;

/** Datagrams after which an address counts as the device's: by chance, a wrong key gives Opus of the right duration once in 40. */
const TRUSTED_AFTER = 3;

/** Packets by which a number may be ahead of the one before; 3 s of sound. */
const MAX_AHEAD = 50;

/** Bytes of an AES-128 key. */
const KEY_BYTES = 16;

/** The first bytes of a header: type 1, and flags. */
const OF_DEVICE = [1, 0];
/** Other flags than those of the device: with the same key no counter must come twice. */
const OF_GATEWAY = [1, 1];

/** The audio of devices over MQTT: one UDP socket, and for each session a channel with its own key and nonce. */
export class UdpChannels {
	readonly #servers: ServerRegistry;
	readonly #endpoint: string | undefined;
	readonly #socket: Socket;
	/** By the number in the headers of their datagrams. */
	readonly #channels = new Map<number, UdpChannel>();

	private constructor(servers: ServerRegistry, socket: Socket, endpoint: string | undefined) {
		this.#servers = servers;
		this.#socket = socket;
		this.#endpoint = endpoint;
		this.#socket.on("message", (datagram, from) => this.#receive(datagram, from));
	}

	/**
	 * Starts to listen. Rejects if the port is in use.
	 *
	 * @param host address to listen on
	 * @param port 0 for a free one
	 * @param endpoint "host:port" that devices are told. Default: where the gateway listens
	 */
	static async listen(
		servers: ServerRegistry,
		host = "127.0.0.1",
		port = 0,
		endpoint?: string | undefined,
	): Promise<UdpChannels> {
		const socket = createSocket(isIPv6(host) ? "udp6" : "udp4");
		try {
			socket.bind(port, host);
			await once(socket, "listening");
		} catch (error) {
			socket.close();
			throw error;
		}
		socket.on("error", ({ message }) => servers.reject(`UDP: ${message}`));
		return new UdpChannels(servers, socket, endpoint);
	}

	/**
	 * Opens the channel of a session.
	 *
	 * @param localAddress where the device has reached this computer; undefined if unknown
	 * @param listensOnRequest see {@link AudioLink}
	 * @param onDropped called for a packet of the device that was dropped
	 */
	open(
		localAddress: string | undefined,
		listensOnRequest: boolean | undefined,
		onDropped: (reason: string) => void,
	): UdpChannel {
		const key = randomBytes(KEY_BYTES);
		const nonce = Buffer.alloc(HEADER_BYTES);
		const source = this.#freeNumber();
		nonce.set(OF_DEVICE);
		nonce.writeUInt32BE(source, SOURCE);
		const offer = {
			...this.#addressFor(localAddress),
			encryption: "aes-128-ctr",
			key: key.toString("hex"),
			nonce: nonce.toString("hex"),
		} as const;
		const secrets = { key, nonce: Buffer.from([...OF_GATEWAY, ...nonce.subarray(2)]) };
		const channel = new UdpChannel(this.#socket, offer, secrets, () => this.#channels.delete(source));
		channel.link = new AudioLink({
			write: (packet) => channel.send(packet),
			isOpen: () => channel.isReached,
			mayOvertake: true,
			listensOnRequest,
			onDropped,
		});
		this.#channels.set(source, channel);
		return channel;
	}

	/** Closes the socket. Every channel ends. */
	async close(): Promise<void> {
		const closed = once(this.#socket, "close");
		for (const channel of [...this.#channels.values()]) {
			channel.close();
		}
		this.#socket.close();
		await closed;
	}

	#receive(datagram: Buffer, from: RemoteInfo): void {
		const source = datagram.byteLength < HEADER_BYTES ? undefined : datagram.readUInt32BE(SOURCE);
		const channel = source === undefined ? undefined : this.#channels.get(source);
		if (channel === undefined) {
			this.#servers.reject(`UDP: ${from.address}: a datagram of ${datagram.byteLength} bytes of no session dropped`);
		} else {
			channel.receive(datagram, from);
		}
	}

	#freeNumber(): number {
		const number = randomBytes(4).readUInt32BE();
		return this.#channels.has(number) ? this.#freeNumber() : number;
	}

	#addressFor(localAddress: string | undefined): Pick<UdpOffer, "server" | "port"> {
		const { address, port } = this.#socket.address();
		if (this.#endpoint !== undefined) {
			const url = new URL(`udp://${this.#endpoint}`);
			return { server: url.hostname, port: Number(url.port || port) };
		}
		const isEverywhere = address === "0.0.0.0" || address === "::";
		const outside = new URL(outsideUrlAt("udp", address, port) ?? "udp://127.0.0.1").hostname;
		const server = isEverywhere ? (localAddress ?? outside) : address;
		return { server: server.replace(/^::ffff:/, ""), port };
	}
}

type UdpSecrets = Pick<UdpSettings, "key" | "nonce">;

/** Stands for a lost packet. */
const LOST = new Uint8Array(0);

/** The audio of one session over UDP. */
export class UdpChannel {
	link!: AudioLink;
	/** How a device reaches it. */
	readonly offer: UdpOffer;
	readonly #socket: Socket;
	readonly #secrets: UdpSecrets;
	readonly #sender: UdpAudio;
	readonly #onClose: () => void;
	/** Origin of the device's datagrams. */
	#peer: Peer | undefined;

	constructor(socket: Socket, offer: UdpOffer, secrets: UdpSecrets, onClose: () => void) {
		this.offer = offer;
		this.#socket = socket;
		this.#secrets = secrets;
		this.#sender = new UdpAudio(secrets, aesCtr);
		this.#onClose = onClose;
	}

	/** Whether it is known where the device is. */
	get isReached(): boolean {
		return this.#peer !== undefined;
	}

	/** Takes a datagram that names this channel, also while nothing listens: it tells where the device is. */
	receive(datagram: Uint8Array, from: RemoteInfo): void {
		try {
			const { packet, lost } = this.#open(datagram, from);
			for (let count = 0; count < lost; count += 1) {
				this.link.receive(() => LOST);
			}
			this.link.receive(() => packet);
		} catch (error) {
			this.link.drop((error as Error).message);
		}
	}

	/** Closes it: later datagrams belong to no session. */
	close(): void {
		this.#peer = undefined;
		this.#onClose();
	}

	/**
	 * Reads a datagram. Nothing in it proves its origin. So an address is trusted after some datagrams only, and until then
	 * another one with a right packet takes its place.
	 */
	#open(datagram: Uint8Array, from: RemoteInfo): { readonly packet: Uint8Array; readonly lost: number } {
		const isElsewhere = this.#peer !== undefined && this.#peer.address !== from.address;
		if (isElsewhere && this.#peer?.isTrusted) {
			throw new RangeError(`from ${from.address}, not from ${this.#peer.address}`);
		}
		const peer =
			this.#peer === undefined || isElsewhere
				? new Peer(from.address, new UdpAudio(this.#secrets, aesCtr))
				: this.#peer;
		const opened = peer.open(datagram);
		// A router may give the device another port.
		peer.port = from.port;
		this.#peer = peer;
		return opened;
	}

	/** Sends a packet to the device. */
	send(packet: Uint8Array): void {
		if (this.#peer !== undefined) {
			const datagram = this.#sender.seal(packet, Math.round(performance.now()));
			this.#socket.send(datagram, this.#peer.port, this.#peer.address, () => {});
		}
	}
}

/** An address from which datagrams of a channel come. */
class Peer {
	readonly address: string;
	port = 0;
	readonly #audio: UdpAudio;
	#accepted = 0;
	/** Milliseconds of its packets. */
	#duration: number | undefined;
	/** Number of its last datagram, and of one that was too far ahead. */
	#last = 0;
	#ahead = 0;

	constructor(address: string, audio: UdpAudio) {
		this.address = address;
		this.#audio = audio;
	}

	get isTrusted(): boolean {
		return this.#accepted >= TRUSTED_AFTER;
	}

	/** Reads a datagram. @throws RangeError if it is not the device's: then it changes nothing */
	open(datagram: Uint8Array): { readonly packet: Uint8Array; readonly lost: number } {
		const opened = this.#audio.open(datagram, (packet) => {
			const duration = packetDuration(packet);
			if (duration !== (this.#duration ?? duration)) {
				throw new RangeError(`${duration} ms, not ${this.#duration} as before, or a wrong key`);
			}
			this.#checkNumber(new DataView(datagram.buffer, datagram.byteOffset).getUint32(SEQUENCE));
			this.#duration = duration;
		});
		this.#accepted += 1;
		return opened;
	}

	/**
	 * Accepts a number that is far ahead only once a second datagram follows it. A packet decrypted with a wrong key is noise,
	 * which is Opus by chance: accepted, it would make the device's own ones old.
	 */
	#checkNumber(number: number): void {
		const follows = (before: number): boolean => number > before && number - before <= MAX_AHEAD;
		if (!follows(this.#last) && !follows(this.#ahead)) {
			this.#ahead = number;
			throw new RangeError(`number ${number}, too far after ${this.#last}`);
		}
		this.#last = number;
		this.#ahead = number;
	}
}
