import { type AudioChannel, RateLimit } from "xs-mcp-manager/core";

/** Most packets of a device per second: Opus has 200 of 5 ms. What is above that is dropped. */
const MAX_PACKETS_PER_SECOND = 200;

interface AudioLinkOptions {
	/** Sends a packet of Opus, in the framing of the transport. */
	readonly write: (packet: Uint8Array) => void;
	/** A packet of the device was dropped. */
	readonly onDropped: (reason: string) => void;
}

/** The audio of a session with a device: packets of Opus in both directions, whatever carries them. */
export class AudioLink implements AudioChannel {
	onmessage: AudioChannel["onmessage"];
	onpacket: AudioChannel["onpacket"];
	readonly #options: AudioLinkOptions;
	readonly #rate = new RateLimit(MAX_PACKETS_PER_SECOND);

	constructor(options: AudioLinkOptions) {
		this.#options = options;
	}

	send(packet: Uint8Array): void {
		this.#options.write(packet);
	}

	/**
	 * Takes a packet of the device. What cannot be read is dropped, and so are packets above 200 a second.
	 *
	 * @param read throws an Error that says what is wrong with it
	 */
	receive(read: () => Uint8Array): void {
		try {
			if (!this.#rate.take()) {
				throw new RangeError(`more than ${MAX_PACKETS_PER_SECOND} packets in a second`);
			}
			const packet = read();
			this.onpacket?.(packet);
		} catch (error) {
			this.#options.onDropped((error as Error).message);
		}
	}
}
