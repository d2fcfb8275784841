import { createSocket } from "node:dgram";
import { UdpAudio } from "../../../../src/features/voice/udp-audio.js";
import { aesCtr } from "../../../xs-mcp/src/build/aes-ctr.js";
import type { Open } from "./connections.js";

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
