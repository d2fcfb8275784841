import { createSocket } from "node:dgram";
import { Bonjour } from "bonjour-service";
import { WebSocket } from "ws";
import { aesCtr } from "xs-mcp/build/aes-ctr";
import { UdpAudio } from "xs-mcp-firmware/features/voice/udp-audio";
import { type Connection, type Open, SEND_WINDOW, splitIntoParts, type Tell } from "./service.js";

/** Opcodes of frames (RFC 6455 §5.2) but for text. */
const BINARY = 2;
const CLOSE = 8;
const PING = 9;
const PONG = 10;

/**
 * Opens WebSockets for the firmware.
 *
 * @param pageUrl of a page that shows the device, which its gateway's console links
 */
export const webSocketsOf =
	(pageUrl: string | undefined): Open =>
	([url, headers], tell): Connection => {
		const more = pageUrl === undefined ? [] : ([["Page-Url", pageUrl]] as const);
		const socket = connect(url as string, [...(headers as [string, string][]), ...more], tell);
		const parts: Uint8Array[] = [];
		return {
			write([opcode, more], bytes) {
				const written = (): void => tell("writable", [bytes.byteLength]);
				if (opcode === PING) {
					socket.ping(bytes, undefined, written);
				} else if (opcode === PONG) {
					socket.pong(bytes, undefined, written);
				} else if (opcode === CLOSE) {
					socket.close();
				} else {
					socket.send(bytes, { binary: opcode === BINARY, fin: !more }, written);
					parts.push(bytes);
					if (!more) {
						tell("message", [{ from: "device" }], Buffer.concat(parts.splice(0)));
					}
				}
			},
			pause: () => socket.pause(),
			resume: () => socket.resume(),
			close: () => socket.close(),
			destroy: () => socket.terminate(),
		};
	};

function connect(url: string, headers: readonly (readonly [string, string])[], tell: Tell): WebSocket {
	const socket = new WebSocket(url, {
		headers: Object.fromEntries(headers),
		perMessageDeflate: false,
		// The chip's client does not check this, so the firmware must handle it.
		skipUTF8Validation: true,
	});
	socket.on("open", () => tell("writable", [SEND_WINDOW]));
	socket.on("message", (data: Buffer, binary) => {
		tell("message", [{ from: "backend" }], data);
		for (const [part, more] of splitIntoParts(data)) {
			tell("data", [{ more, binary }], part);
		}
	});
	socket.on("ping", (data) => tell("control", [PING], data));
	socket.on("pong", (data) => tell("control", [PONG], data));
	socket.on("unexpected-response", (request, { statusCode = 0 }) => {
		const hasToken = headers.some(([name]) => name.toLowerCase() === "authorization");
		tell("error", [describeStatus(statusCode, hasToken)]);
		request.destroy();
	});
	socket.on("error", (error: NodeJS.ErrnoException) => tell("error", [error.message || error.code]));
	socket.on("close", () => tell("closed"));
	return socket;
}

/** The error for a handshake that was answered with this HTTP status. */
function describeStatus(status: number, hasToken: boolean): string {
	if (status === 401) {
		return hasToken ? "token rejected (401)" : "the backend requires a token (401)";
	}
	if (status < 400 || status === 404) {
		return `no WebSocket at this URL (HTTP status ${status})`;
	}
	return `the backend answered with HTTP status ${status}`;
}

/** Opens an audio channel over UDP for the firmware. Datagrams from elsewhere than its server do not arrive. */
export const openUdp: Open = (args, tell) => {
	const [server, port, key, nonce] = args as [string, number, number[], number[]];
	const socket = createSocket(server.includes(":") ? "udp6" : "udp4");
	const audio = new UdpAudio({ key: Uint8Array.from(key), nonce: Uint8Array.from(nonce) }, aesCtr);
	let isConnected = false;
	/** The latest packet to send once the server is looked up. */
	let waiting: readonly [packet: Uint8Array, timestamp: number] | undefined;
	const dropped = ({ message }: Error): void => tell("dropped", [message]);
	const send = (packet: Uint8Array, timestamp: number): void => {
		waiting = [packet, timestamp];
		if (!isConnected) {
			return;
		}
		try {
			socket.send(audio.seal(packet, timestamp), () => {});
		} catch (error) {
			dropped(error as Error);
		}
	};
	const close = (): void => {
		isConnected = false;
		socket.close();
	};
	socket.on("error", dropped);
	socket.on("message", (datagram) => {
		try {
			const { packet, timestamp, lost } = audio.open(datagram);
			for (let count = 0; count < lost; count += 1) {
				tell("packet", [0]);
			}
			tell("packet", [timestamp], packet);
		} catch (error) {
			dropped(error as Error);
		}
	});
	// A connected socket gets datagrams of its server only.
	socket.connect(port, server, (error?: Error) => {
		if (error) {
			tell("error", [error.message]);
			close();
			return;
		}
		isConnected = true;
		if (waiting !== undefined) {
			send(...waiting);
		}
	});
	return { write: ([timestamp], packet) => send(packet, timestamp as number), close, destroy: close };
};

/** Finds services on the network for the firmware, by multicast DNS, at an interface's address; empty: at every one. */
export const searchDnsSd: Open = (args, tell) => {
	const [serviceType, address] = args as [string, string];
	const [, type = "", protocol = "tcp"] = /^_(.+)\._(tcp|udp)$/.exec(serviceType) ?? [];
	// A socket bound to an interface's address would receive no multicast.
	const options = address === "" ? {} : { interface: address, bind: "0.0.0.0" };
	const search = new Bonjour(options as object, ({ message }: Error) => tell("failed", [message]));
	search.find({ type, protocol: protocol as "tcp" | "udp" }, ({ name, host, port, addresses = [], txt }) => {
		const found = { name, host, port, address: addresses.find((each) => each.includes(".")) ?? "" };
		tell("found", [found, Object.entries((txt ?? {}) as object)]);
	});
	const close = (): void => search.destroy();
	return { close, destroy: close };
};
