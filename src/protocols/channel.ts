import type { Sendable } from "../text/pieced-text.js";
import type { ProtocolError } from "./protocol-error.js";

/** What happens on a {@link Channel}. Nothing is called once the channel was closed, from either side. */
export interface ChannelEvents {
	/** Connected: messages may be sent. */
	onOpen(): void;
	/** One whole text message. */
	onText(text: string): void;
	/** One whole binary message. Left out, such messages are dropped as they come. */
	readonly onBinary?: (message: ArrayBuffer) => void;
	/** A message was dropped. `start` has its first characters if it was too long, else nothing. */
	onDropped(reason: string, start: string): void;
	/** A whole message or control frame was heard. Mere bytes are no sign of life: their framing may be lost. */
	onActivity(): void;
	/** The channel failed, or the other side closed it. */
	onClose(error: ProtocolError): void;
}

/** One connection to a backend, or the attempt at one. It is not used again after it closed. */
export interface Channel {
	/** Sends a text message, or queues it. When the queue is full the channel closes as "send-queue-full". */
	send(text: Sendable): void;
	/** Asks the other side for a sign of life, where the transport has a way to. */
	ping(): void;
	/** Closes at once and in silence. Messages that still wait are dropped. */
	close(): void;
}
