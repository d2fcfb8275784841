import { EventEmitter } from "node:events";
import { type AudioChannel, type AudioEvents, RateLimit } from "xs-mcp-manager/core";

/** Most packets of a device per second: Opus has 200 of 5 ms. Further ones are dropped. */
const MAX_PACKETS_PER_SECOND = 200;

interface AudioLinkOptions {
	/** Sends a packet of Opus, in the framing of the transport. */
	readonly write: (packet: Uint8Array) => void;
	/** Default: it always is. */
	readonly isOpen?: () => boolean;
	/** Default false. */
	readonly mayOvertake?: boolean;
	/** Whether a `listen` message starts and stops the device's microphone. Default false. */
	readonly listensOnRequest?: boolean | undefined;
	/** A packet of the device was dropped. */
	readonly onDropped: (reason: string) => void;
}

/** The audio of a session with a device: packets of Opus in both directions, over WebSocket or UDP. */
export class AudioLink extends EventEmitter<AudioEvents> implements AudioChannel {
	/** Packets of the device that were dropped. */
	dropped = 0;
	/** Whether the device listens, by its latest message. */
	isListening = false;
	readonly listensOnRequest: boolean;
	readonly mayOvertake: boolean;
	readonly #options: AudioLinkOptions;
	readonly #rate = new RateLimit(MAX_PACKETS_PER_SECOND);

	constructor(options: AudioLinkOptions) {
		super();
		this.#options = options;
		this.listensOnRequest = options.listensOnRequest === true;
		this.mayOvertake = options.mayOvertake === true;
	}

	get isOpen(): boolean {
		return this.#options.isOpen?.() ?? true;
	}

	/** Takes a message of the device: `listen` or `abort`. */
	told(message: AudioEvents["message"][0]): void {
		if (message.type === "listen" && (message.state === "start" || message.state === "stop")) {
			this.isListening = message.state === "start";
		}
		this.emit("message", message);
	}

	send(packet: Uint8Array): void {
		this.#options.write(packet);
	}

	/**
	 * Receives a packet of the device. Without a listener it is ignored. Invalid packets, and more than 200 a second, are dropped.
	 *
	 * @param read throws an Error if the packet is invalid
	 */
	receive(read: () => Uint8Array): void {
		if (this.listenerCount("packet") === 0) {
			return;
		}
		try {
			if (!this.#rate.take()) {
				throw new RangeError(`more than ${MAX_PACKETS_PER_SECOND} packets in a second`);
			}
			this.emit("packet", read());
		} catch (error) {
			this.drop((error as Error).message);
		}
	}

	/** Counts a packet that cannot be used. */
	drop(reason: string): void {
		this.dropped += 1;
		this.#options.onDropped(reason);
	}
}
