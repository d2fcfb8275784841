import { decodeText, MessageAssembler, type MessageRejected } from "../core/text/message-assembler.js";
import type { Sendable } from "../core/text/pieced-text.js";
import { WriteQueue } from "../core/text/write-queue.js";
import type { Channel, ChannelEvents } from "./transport.js";
import { ProtocolError } from "./transport.js";

/** The options common to all channels. */
export interface ChannelOptions {
	/** The longest message from the backend, in bytes. */
	readonly maxMessageBytes: number;
	/** Bytes that may wait to be sent. */
	readonly maxQueuedBytes: number;
	readonly log: (message: string) => void;
}

/**
 * Divides the heap among messages. At its peak the longest message is held about five times over: as bytes, as text,
 * parsed, and in an answer that quotes it, once as text and once as bytes.
 */
export const messageLimits = (chunkBytes: number) => ({
	maxMessageBytes: Math.floor(chunkBytes / 8),
	maxQueuedBytes: Math.floor(chunkBytes / 4),
});

interface ReadablePart {
	readonly count: number;
	/** Whether further parts of the same message follow. */
	readonly more: boolean;
	/** Whether it is text, or binary. */
	readonly text: boolean;
}

/**
 * The common part of channels on ECMA-419's network clients: messages arrive and leave in parts, as much at a time as
 * the client allows.
 *
 * While answers wait to be sent, the channel does not read. So a backend that sends faster than it reads is slowed down
 * by TCP, and the device's memory stays bounded.
 */
export abstract class QueuedChannel extends WriteQueue implements Channel {
	protected readonly log: (message: string) => void;
	private readonly events: ChannelEvents;
	private readonly assembler: MessageAssembler;
	private readonly maxWaiting: number;
	private open = false;
	protected closed = false;
	private unread: ReadablePart | undefined;

	/** @param overhead bytes that the transport adds to the first part of a message */
	constructor(events: ChannelEvents, { log, maxMessageBytes, maxQueuedBytes }: ChannelOptions, overhead: number) {
		super(maxQueuedBytes, overhead);
		this.events = events;
		this.log = log;
		this.assembler = new MessageAssembler(maxMessageBytes);
		this.maxWaiting = maxQueuedBytes / 4;
	}

	abstract ping(): void;

	/** Reads from the client; undefined for an empty message. */
	protected abstract readPart(count: number): ArrayBuffer | number | undefined;

	/** Releases the client. */
	protected abstract closeClient(): void;

	send(text: Sendable): void {
		if (this.closed) {
			return;
		}
		try {
			if (!this.push(text)) {
				const waiting = `${this.queuedBytes} bytes queued, no room for the next message`;
				this.fail(new ProtocolError("send-queue-full", `the backend does not read: ${waiting}`));
			}
		} catch (cause) {
			this.fail(this.connectionError(cause));
		}
	}

	close(): void {
		if (!this.closed) {
			this.closed = true;
			this.closeClient();
		}
	}

	/** A whole message or control frame has arrived: the peer is alive, and the framing intact. */
	protected heard(): void {
		if (!this.closed) {
			this.events.onActivity();
		}
	}

	/** The connection is ready for messages. */
	protected opened(): void {
		if (!this.closed && !this.open) {
			this.open = true;
			this.events.onOpen();
		}
	}

	/** The client has a part of a message. */
	protected readable(part: ReadablePart): void {
		if (this.closed) {
			return;
		}
		// An empty part must be read now: the client continues with the next at once.
		if (this.queuedBytes > this.maxWaiting && part.count > 0) {
			this.unread = part;
			return;
		}
		const data = this.readPart(part.count);
		if (this.closed) {
			return;
		}
		if (!part.more) {
			this.events.onActivity();
		}
		if (part.text || this.events.onBinary !== undefined) {
			this.append(data instanceof ArrayBuffer ? data : new ArrayBuffer(0), part);
		}
	}

	/** The client takes this many bytes. */
	protected writable(count: number): void {
		if (this.closed) {
			return;
		}
		try {
			this.setRoom(count);
		} catch (cause) {
			this.fail(this.connectionError(cause));
			return;
		}
		const unread = this.unread;
		if (unread !== undefined && this.queuedBytes <= this.maxWaiting) {
			this.unread = undefined;
			this.readable(unread);
		}
	}

	/** Closes with a reason. */
	protected fail(error: ProtocolError): void {
		if (!this.closed) {
			this.close();
			this.events.onClose(error);
		}
	}

	protected connectionError(cause: unknown): ProtocolError {
		const detail = cause instanceof Error ? `: ${cause.message}` : "";
		const message = this.open ? `connection lost${detail}` : `no connection${detail}`;
		return new ProtocolError("connection-failed", message, { cause });
	}

	private append(data: ArrayBuffer, part: ReadablePart): void {
		let message: ArrayBuffer | undefined;
		let text = "";
		try {
			message = this.assembler.append(data, part.more);
			text = part.text && message !== undefined ? decodeText(message) : "";
		} catch (error) {
			const { message: reason, start } = error as MessageRejected;
			this.events.onDropped(reason, start);
			return;
		}
		if (message !== undefined) {
			part.text ? this.events.onText(text) : this.events.onBinary?.(message);
		}
	}
}
