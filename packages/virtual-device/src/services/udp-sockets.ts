import { createSocket } from "node:dgram";
import { UdpAudio } from "../../../../src/features/voice/udp-audio.js";
import { aesCtr } from "../../../xs-mcp/src/build/aes-ctr.js";
import type { Open } from "./connections.js";

/** Opens an audio channel over UDP for the firmware. Datagrams from elsewhere than its server do not arrive. */
export const openUdp: Open = (args, tell) => {
	const [server, port, key, nonce] = args as [string, number, number[], number[]];
	const socket = createSocket(server.includes(":") ? "udp6" : "udp4");
	const audio = new UdpAudio({ key: Uint8Array.from(key), nonce: Uint8Array.from(nonce) }, aesCtr);
	let isOpen = true;
	/** Settles once its server is looked up. */
	const connected = new Promise<void>((resolve) => socket.once("connect", resolve));
	const dropped = ({ message }: Error): void => tell("dropped", [message]);
	const close = (): void => {
		isOpen = false;
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
	socket.connect(port, server);
	return {
		write([timestamp], packet) {
			const send = (): void => {
				if (isOpen) {
					socket.send(audio.seal(packet, timestamp as number), () => {});
				}
			};
			void connected.then(send).catch(dropped);
		},
		close,
		destroy: close,
	};
};
