import { createSocket, type Socket } from "node:dgram";
import { UdpAudio } from "../../../src/voice/udp-audio.js";
import { aesCtr } from "../../../toolchain/aes-ctr.js";
import type { Deliver, Service } from "./service.js";

interface Channel {
	readonly socket: Socket;
	readonly audio: UdpAudio;
	/** Settles once its server is looked up. */
	readonly connected: Promise<void>;
}

/** Opens audio channels over UDP for the firmware. Datagrams from elsewhere than their server do not arrive. */
export class UdpSockets implements Service {
	readonly prefix = "udp";
	readonly #deliver: Deliver;
	readonly #channels = new Map<number, Channel>();

	constructor(deliver: Deliver) {
		this.#deliver = deliver;
	}

	take(kind: string, args: readonly unknown[], bytes: Uint8Array = new Uint8Array(0)): void {
		const id = args[0] as number;
		if (kind === "open") {
			this.#open(id, ...(args.slice(1) as [string, number, number[], number[]]));
		} else if (kind === "send") {
			this.#send(id, bytes);
		} else if (kind === "close") {
			this.#channels.get(id)?.socket.close();
			this.#channels.delete(id);
		}
	}

	close(): void {
		for (const { socket } of this.#channels.values()) {
			socket.close();
		}
		this.#channels.clear();
	}

	#open(id: number, server: string, port: number, key: number[], nonce: number[]): void {
		const socket = createSocket(server.includes(":") ? "udp6" : "udp4");
		const audio = new UdpAudio({ key: Uint8Array.from(key), nonce: Uint8Array.from(nonce) }, aesCtr);
		const connected = new Promise<void>((resolve) => socket.once("connect", resolve));
		this.#channels.set(id, { socket, audio, connected });
		const dropped = (error: Error): void => {
			if (this.#channels.has(id)) {
				this.#deliver({ header: ["udp.dropped", id, error.message] });
			}
		};
		socket.on("error", dropped);
		socket.on("message", (datagram) => {
			try {
				const { packet, lost } = audio.open(datagram);
				for (let count = 0; count < lost; count += 1) {
					this.#deliver({ header: ["udp.packet", id] });
				}
				this.#deliver({ header: ["udp.packet", id], bytes: packet });
			} catch (error) {
				dropped(error as Error);
			}
		});
		// A connected socket gets datagrams of its server only.
		socket.connect(port, server);
	}

	#send(id: number, packet: Uint8Array): void {
		const channel = this.#channels.get(id);
		if (channel === undefined) {
			return;
		}
		void channel.connected
			.then(() => {
				if (this.#channels.get(id) === channel) {
					channel.socket.send(channel.audio.seal(packet, Math.round(performance.now())), () => {});
				}
			})
			.catch(({ message }: Error) => this.#deliver({ header: ["udp.dropped", id, message] }));
	}
}
