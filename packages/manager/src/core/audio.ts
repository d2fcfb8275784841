import type { EventEmitter } from "node:events";

export interface AudioEvents {
	/** The device's messages about its audio: `listen` and `abort`. */
	message: [message: { readonly type: string; readonly state?: unknown; readonly reason?: unknown }];
	/**
	 * A packet of Opus that the device has recorded; an empty one stands for one that was lost. An Error that a listener throws
	 * counts the packet as dropped.
	 */
	packet: [packet: Uint8Array];
}

/** The way to the speaker and from the microphone of a device of the xiaozhi family. */
export interface AudioChannel extends EventEmitter<AudioEvents> {
	/** Whether packets reach the device. Over UDP they do once it has sent one. */
	readonly isOpen: boolean;
	/** Whether packets may overtake messages, as they do over UDP. */
	readonly mayOvertake: boolean;
	/** Sends a packet of Opus, between `tts` `start` and `stop`. */
	send(packet: Uint8Array): void;
	/** Whether the device listens, as it says. */
	readonly isListening: boolean;
	/** Whether a `listen` message starts and stops the device's microphone, as with firmware of this project. */
	readonly listensOnRequest: boolean;
	/** Recorded packets that were dropped: too many, wrongly framed, or not to be decoded. */
	readonly dropped: number;
}
