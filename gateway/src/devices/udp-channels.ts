import { randomBytes } from "node:crypto";
import { createSocket, type RemoteInfo, type Socket } from "node:dgram";
import { once } from "node:events";
import { isIPv6 } from "node:net";
import type { ServerRegistry } from "xs-mcp-manager/core";
import { aesCtr } from "../../../toolchain/aes-ctr.js";
import { outsideUrlAt } from "../config/listen-address.js";
import { UdpAudio } from "../firmware.js";
import { AudioLink } from "./audio-link.js";
import { packetDuration } from "./opus-packet.js";

export interface UdpChannelsOptions {
	/** Address to listen on. Default: loopback. */
	readonly host?: string;
	/** Default: a free one. */
	readonly port?: number;
	/** "host:port" that devices are told. Default: where the gateway listens. */
	readonly endpoint?: string | undefined;
}

/** Options of a session's channel: see {@link AudioLink}. */
export interface ChannelOptions {
	readonly listensOnRequest: boolean | undefined;
	readonly onDropped: (reason: string) => void;
}

/** The member `udp` of the gateway's hello. */
interface UdpOffer {
	readonly server: string;
	readonly port: number;
	readonly encryption: "aes-128-ctr";
	readonly key: string;
	readonly nonce: string;
}

/** Bytes of a datagram's header, and where the number of its channel is in it. */
const HEADER_BYTES = 16;
const SOURCE = 4;

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

	/** Starts to listen. Rejects if the port is in use. */
	static async listen(
		servers: ServerRegistry,
		{ host = "127.0.0.1", port = 0, endpoint }: UdpChannelsOptions = {},
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
	 */
	open(localAddress: string | undefined, options: ChannelOptions): UdpChannel {
		const key = randomBytes(KEY_BYTES);
		const nonce = Buffer.alloc(HEADER_BYTES);
		const source = this.#freeNumber();
		nonce.set(OF_DEVICE);
		nonce.writeUInt32BE(source, SOURCE);
		const channel = new UdpChannel({
			offer: {
				...this.#addressFor(localAddress),
				encryption: "aes-128-ctr",
				key: key.toString("hex"),
				nonce: nonce.toString("hex"),
			},
			audio: new UdpAudio({ key, nonce: Buffer.from([...OF_GATEWAY, ...nonce.subarray(2)]) }, aesCtr),
			send: (datagram, { port, address }) => this.#socket.send(datagram, port, address, () => {}),
			...options,
			onClose: () => this.#channels.delete(source),
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

interface UdpChannelOptions extends ChannelOptions {
	readonly offer: UdpOffer;
	readonly audio: UdpAudio;
	readonly send: (datagram: Uint8Array, to: RemoteInfo) => void;
	readonly onClose: () => void;
}

/** Stands for a lost packet. */
const LOST = new Uint8Array(0);

/** The audio of one session over UDP. */
export class UdpChannel {
	readonly link: AudioLink;
	readonly #options: UdpChannelOptions;
	/** Where the device's datagrams come from. */
	#peer: RemoteInfo | undefined;
	/** Milliseconds of the device's packets. */
	#duration: number | undefined;

	constructor(options: UdpChannelOptions) {
		this.#options = options;
		this.link = new AudioLink({
			write: (packet) => this.#send(packet),
			isOpen: () => this.#peer !== undefined,
			mayOvertake: true,
			listensOnRequest: options.listensOnRequest,
			onDropped: options.onDropped,
		});
	}

	/** How a device reaches it. */
	get offer(): UdpOffer {
		return this.#options.offer;
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
		this.#options.onClose();
	}

	#open(datagram: Uint8Array, from: RemoteInfo): { readonly packet: Uint8Array; readonly lost: number } {
		if (this.#peer !== undefined && this.#peer.address !== from.address) {
			throw new RangeError(`from ${from.address}, not from ${this.#peer.address}`);
		}
		const opened = this.#options.audio.open(datagram, this.#check);
		// A router may give the device another port.
		this.#peer = from;
		return opened;
	}

	/**
	 * A packet decrypted with a wrong key is noise, which is rarely Opus of the same duration. Accepted, it could raise the
	 * sequence number, and the device's own packets would be dropped as old.
	 */
	readonly #check = (packet: Uint8Array): void => {
		const duration = packetDuration(packet);
		this.#duration ??= duration;
		if (duration !== this.#duration) {
			throw new RangeError(`${duration} ms, not ${this.#duration} as before, or a wrong key`);
		}
	};

	#send(packet: Uint8Array): void {
		if (this.#peer !== undefined) {
			this.#options.send(this.#options.audio.seal(packet, Math.round(performance.now())), this.#peer);
		}
	}
}
