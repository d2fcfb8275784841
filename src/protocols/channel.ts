import type { Sendable } from "../text/pieced-text.js";
import type { ProtocolError } from "./protocol-error.js";

/** Events of a {@link Channel}. Nothing is called after the channel was closed, by either side. */
export interface ChannelEvents {
	/** Connected: messages may be sent. */
	onOpen(): void;
	/** One whole text message. */
	onText(text: string): void;
	/** One whole binary message. If absent, such messages are dropped. */
	readonly onBinary?: (message: ArrayBuffer) => void;
	/** A message was dropped. `start` has its first characters if it was too long, else it is empty. */
	onDropped(reason: string, start: string): void;
	/** A whole message or control frame has arrived. Mere bytes are no sign of life, because the framing may be lost. */
	onActivity(): void;
	/** The channel failed, or the other side closed it. */
	onClose(error: ProtocolError): void;
}

/** One connection to a backend, or the attempt to open one. Not reused after it was closed. */
export interface Channel {
	/** Sends a text message, or queues it. When the queue is full the channel closes as "send-queue-full". */
	send(text: Sendable): void;
	/** Asks the peer for a sign of life, if the transport supports that. */
	ping(): void;
	/** Closes at once without events. Waiting messages are dropped. */
	close(): void;
}
