import { EventEmitter } from "node:events";
import { type AudioChannel, type AudioEvents, RateLimit } from "xs-mcp-manager/core";

/** Most packets of a device per second: Opus has 200 of 5 ms. Further ones are dropped. */
const MAX_PACKETS_PER_SECOND = 200;

/** The audio of a session with a device: packets of Opus in both directions, over WebSocket or UDP. */
export class AudioLink extends EventEmitter<AudioEvents> implements AudioChannel {
	/** Packets of the device that were dropped. */
	dropped = 0;
	/** Whether the device listens, by its latest message. */
	isListening = false;
	readonly send: (packet: Uint8Array) => void;
	readonly listensOnRequest: boolean;
	readonly mayOvertake: boolean;
	readonly #onDropped: (reason: string) => void;
	readonly #isReached: () => boolean;
	readonly #rate = new RateLimit(MAX_PACKETS_PER_SECOND);

	/**
	 * @param send sends a packet of Opus, in the framing of the transport
	 * @param onDropped called for a packet of the device that was dropped
	 * @param listensOnRequest whether a `listen` message starts and stops the device's microphone
	 * @param isReached over UDP, where packets may overtake messages: whether it is known where the device is
	 */
	constructor(
		send: (packet: Uint8Array) => void,
		onDropped: (reason: string) => void,
		listensOnRequest = false,
		isReached?: () => boolean,
	) {
		super();
		this.send = send;
		this.#onDropped = onDropped;
		this.listensOnRequest = listensOnRequest;
		this.mayOvertake = isReached !== undefined;
		this.#isReached = isReached ?? (() => true);
	}

	get isOpen(): boolean {
		return this.#isReached();
	}

	/** Takes a message of the device: `listen` or `abort`. */
	receiveMessage(message: AudioEvents["message"][0]): void {
		if (message.type === "listen" && (message.state === "start" || message.state === "stop")) {
			this.isListening = message.state === "start";
		}
		this.emit("message", message);
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
		this.#onDropped(reason);
	}
}
