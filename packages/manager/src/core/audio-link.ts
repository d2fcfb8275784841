import { EventEmitter } from "node:events";
import { RateLimit } from "./received.js";

export interface AudioEvents {
	/** The device's messages about its audio: `listen` and `abort`. */
	message: [message: { readonly type: string; readonly state?: unknown; readonly reason?: unknown }];
	/**
	 * A recorded packet of Opus; an empty one for each that was lost. If a listener throws an Error, the packet
	 * counts as dropped.
	 */
	packet: [packet: Uint8Array];
}

/** Maximum packets of a device per second: Opus has at most 200, of 5 ms. Further ones are dropped. */
const MAX_PACKETS_PER_SECOND = 200;

/** The audio of a session with a device: packets of Opus in both directions, over WebSocket or UDP. */
export class AudioLink extends EventEmitter<AudioEvents> {
	/** Number of recorded packets that were dropped: over the rate limit, wrongly framed or undecodable. */
	dropped = 0;
	/** Whether the device is listening, according to its latest message. */
	isListening = false;
	/** Sends a packet of Opus, between `tts` `start` and `stop`. */
	readonly send: (packet: Uint8Array) => void;
	/** Whether a `listen` message starts and stops the device's microphone, as with firmware of this project. */
	readonly listensOnRequest: boolean;
	/** Whether packets may overtake messages, as they do over UDP. */
	readonly mayOvertake: boolean;
	readonly #onDropped: (reason: string) => void;
	readonly #isReached: () => boolean;
	readonly #rate = new RateLimit(MAX_PACKETS_PER_SECOND);

	/**
	 * @param send sends a packet in the framing of the transport
	 * @param onDropped called for a packet of the device that was dropped
	 * @param isReached over UDP: whether the device's address is known
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

	/** Whether packets reach the device. Over UDP they do once it has sent one. */
	get isOpen(): boolean {
		return this.#isReached();
	}

	/** Handles a message of the device: `listen` or `abort`. */
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
