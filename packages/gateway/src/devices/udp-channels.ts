import { randomBytes } from "node:crypto";
import { createSocket, type RemoteInfo, type Socket } from "node:dgram";
import { once } from "node:events";
import { isIPv6 } from "node:net";
import { aesCtr } from "xs-mcp/build/aes-ctr";
import { packetDuration } from "xs-mcp-firmware/features/voice/ogg-opus";
import { UdpAudio, type UdpSettings } from "xs-mcp-firmware/features/voice/udp-audio";
import { AudioLink, type ServerRegistry } from "xs-mcp-manager/core";
import { outsideUrlAt } from "../config/listen-address.js";

/** Bytes of a datagram's header, and the position of its channel's number in it. */
const HEADER_BYTES = 16;
const SOURCE = 4;

/** Packets like the one before after which an address is the device's: a wrong key gives Opus of one duration once in 40. */
const TRUSTED_AFTER = 3;

/** Addresses of a channel whose numbers are remembered while none is trusted. */
const MAX_ORIGINS = 8;

/** Bytes of an AES-128 key. */
const KEY_BYTES = 16;

/** The first bytes of a header: type 1, and flags. */
const OF_DEVICE = [1, 0];
/** Other flags than those of the device: with the same key no counter must come twice. */
const OF_GATEWAY = [1, 1];

/** The audio of devices over MQTT: one UDP socket, and for each session a channel with its own key and nonce. */
export type UdpChannels = Awaited<ReturnType<typeof openUdpChannels>>;

/**
 * Listens for the audio of devices. Rejects if the port is in use.
 *
 * @param host address to listen on
 * @param port 0 for a free one
 * @param endpoint "host:port" that is sent to devices. Default: where the gateway listens
 */
export async function openUdpChannels(servers: ServerRegistry, host = "127.0.0.1", port = 0, endpoint?: string) {
	const socket = createSocket(isIPv6(host) ? "udp6" : "udp4");
	try {
		socket.bind(port, host);
		await once(socket, "listening");
	} catch (error) {
		socket.close();
		throw error;
	}
	/** Channels by the number in the headers of their datagrams. */
	const channels = new Map<number, UdpChannel>();
	socket.on("error", ({ message }) => servers.reject(`UDP: ${message}`));
	socket.on("message", (datagram, from) => {
		const source = datagram.byteLength < HEADER_BYTES ? undefined : datagram.readUInt32BE(SOURCE);
		const channel = source === undefined ? undefined : channels.get(source);
		if (channel === undefined) {
			servers.reject(`UDP: ${from.address}: a datagram of ${datagram.byteLength} bytes of no session dropped`);
		} else {
			channel.receive(datagram, from);
		}
	});
	const freeNumber = (): number => {
		const number = randomBytes(4).readUInt32BE();
		return channels.has(number) ? freeNumber() : number;
	};
	return {
		/**
		 * Opens the channel of a session.
		 *
		 * @param localAddress where the device has reached this computer; undefined if unknown
		 * @param listensOnRequest see {@link AudioLink}
		 * @param onDropped called for a packet of the device that was dropped
		 */
		open(localAddress: string | undefined, listensOnRequest: boolean | undefined, onDropped: (reason: string) => void) {
			const key = randomBytes(KEY_BYTES);
			const nonce = Buffer.alloc(HEADER_BYTES);
			const source = freeNumber();
			nonce.set(OF_DEVICE);
			nonce.writeUInt32BE(source, SOURCE);
			const secrets = { key, nonce: Buffer.from([...OF_GATEWAY, ...nonce.subarray(2)]) };
			const audio = openAudio(socket, secrets, onDropped, listensOnRequest);
			/** The member `udp` of the gateway's hello. */
			const offer = {
				...addressFor(socket, localAddress, endpoint),
				encryption: "aes-128-ctr",
				key: key.toString("hex"),
				nonce: nonce.toString("hex"),
			};
			/** Closes it: later datagrams belong to no session. */
			const close = (): void => {
				audio.forgetPeer();
				channels.delete(source);
			};
			const channel = { ...audio, offer, close };
			channels.set(source, channel);
			return channel;
		},
		/** Closes the socket. Every channel ends. */
		async close(): Promise<void> {
			const closed = once(socket, "close");
			for (const channel of [...channels.values()]) {
				channel.close();
			}
			socket.close();
			await closed;
		},
	};
}

function addressFor(socket: Socket, localAddress: string | undefined, endpoint: string | undefined) {
	const { address, port } = socket.address();
	if (endpoint !== undefined) {
		const url = new URL(`udp://${endpoint}`);
		return { server: url.hostname, port: Number(url.port || port) };
	}
	const isEverywhere = address === "0.0.0.0" || address === "::";
	const outside = new URL(outsideUrlAt("udp", address, port) ?? "udp://127.0.0.1").hostname;
	const server = isEverywhere ? (localAddress ?? outside) : address;
	return { server: server.replace(/^::ffff:/, ""), port };
}

/** The audio of one session over UDP. */
interface UdpChannel extends ReturnType<typeof openAudio> {
	readonly close: () => void;
}

/** Stands for a lost packet. */
const LOST = new Uint8Array(0);

/** Opens the audio of one session. */
function openAudio(
	socket: Socket,
	secrets: Pick<UdpSettings, "key" | "nonce">,
	onDropped: (reason: string) => void,
	listensOnRequest: boolean | undefined,
) {
	const sender = new UdpAudio(secrets, aesCtr);
	/** Origins of datagrams by their addresses, also of rejected ones. */
	const origins = new Map<string, ReturnType<typeof makePeer>>();
	/** Origin of the device's datagrams. */
	let peer: ReturnType<typeof makePeer> | undefined;
	const send = (packet: Uint8Array): void => {
		if (peer !== undefined) {
			socket.send(sender.seal(packet, Math.round(performance.now())), peer.port, peer.address, () => {});
		}
	};
	const link = new AudioLink(send, onDropped, listensOnRequest, () => peer !== undefined);
	return {
		link,
		/**
		 * Takes a datagram that names this channel, also while nothing listens: it shows where the device is. Nothing in it proves
		 * its origin. So an address is trusted after some datagrams only, and until then another one with a right packet takes its
		 * place.
		 */
		receive(datagram: Uint8Array, { address, port }: RemoteInfo): void {
			try {
				if (peer !== undefined && peer.address !== address && peer.isTrusted()) {
					throw new RangeError(`from ${address}, not from ${peer.address}`);
				}
				const origin = origins.get(address) ?? makePeer(address, new UdpAudio(secrets, aesCtr));
				const [oldest = address] = origins.keys();
				if (origins.set(address, origin).size > MAX_ORIGINS) {
					origins.delete(oldest);
				}
				const { packet, lost } = origin.open(datagram);
				// A router may give the device another port.
				origin.port = port;
				peer = origin;
				for (let count = 0; count < lost; count += 1) {
					link.receive(() => LOST);
				}
				link.receive(() => packet);
			} catch (error) {
				link.drop((error as Error).message);
			}
		},
		forgetPeer(): void {
			peer = undefined;
		},
	};
}

/** Makes the state of an address from which datagrams of a channel come. */
function makePeer(address: string, audio: UdpAudio) {
	let alike = 0;
	let before: number | undefined;
	return {
		address,
		port: 0,
		isTrusted: () => alike >= TRUSTED_AFTER,
		/** Reads a datagram. @throws RangeError if it is not accepted: then it adds no trust */
		open(datagram: Uint8Array): { readonly packet: Uint8Array; readonly lost: number } {
			const opened = audio.open(datagram);
			const duration = packetDuration(opened.packet);
			if (duration === (before ?? duration)) {
				alike += 1;
			}
			before = duration;
			return opened;
		},
	};
}
