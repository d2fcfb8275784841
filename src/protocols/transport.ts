import type { Config } from "../core/config.js";
import { SettingError } from "../core/read-setting.js";
import type { Sendable } from "../core/text/json.js";
import { decodeText, MessageAssembler, type MessageRejected } from "../core/text/message-assembler.js";
import { splitUrl, type UrlParts } from "../core/text/url.js";
import { WriteQueue } from "../core/text/write-queue.js";
import { ProtocolError } from "./envelope.js";
import type { HttpClients } from "./http-client.js";
import type { MqttRecord } from "./mqtt-channel.js";
import type { WebSocketRecord } from "./websocket-channel.js";

/** Events of a {@link Channel}. Nothing is called after the channel was closed, by either side. */
export interface ChannelEvents {
	/** Connected: messages may be sent. */
	onOpen(): void;
	/** One whole text message. */
	onText(text: string): void;
	/** One whole binary message. If absent, such messages are dropped. */
	readonly onBinary?: ((message: ArrayBuffer) => void) | undefined;
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
	/** Sends a binary message at once or not at all, because late audio is useless. @returns whether it was sent */
	sendNow?(message: Uint8Array): boolean;
	/** Asks the peer for a sign of life, if the transport supports that. */
	ping(): void;
	/** Closes at once without events. Waiting messages are dropped. */
	close(): void;
}

/** A way to reach a backend, for a {@link Protocol}. */
export interface Transport {
	/** Its name in the hello: "websocket", or "udp" on MQTT. */
	readonly name: string;
	/** The hello's version: the audio framing's on WebSocket, 3 on MQTT. */
	readonly version: number;
	/** Whether a session ends with a goodbye, which the connection outlives, or with its connection. */
	readonly saysGoodbye: boolean;
	/** Whether a message right after connecting may be an old one that the broker has retained. */
	readonly mayRetain?: boolean;
	/** Milliseconds without traffic from the backend after which the session ends; 0 for never. */
	readonly silenceTimeout: number;
	/** The longest message from the backend, in bytes. */
	readonly maxMessageBytes: number;
	/** The longest message to the backend in bytes, unless its hello says otherwise. */
	readonly maxSentBytes: number;
	/** The longest message that may be queued, in bytes. */
	readonly maxQueuedBytes: number;
	/** Opens a channel. An exception counts as a failed attempt. */
	open(events: ChannelEvents): Channel;
}

/** ECMA-419's records for the network clients that a platform has. */
export interface NetworkClients extends HttpClients {
	readonly ws?: WebSocketRecord;
	readonly wss?: WebSocketRecord;
	readonly mqtt?: MqttRecord;
	readonly mqtts?: MqttRecord;
}

/** Options of a transport: the settings of the backend, and the device. */
export interface TransportOptions extends Config, ChannelOptions {
	readonly network: NetworkClients;
	/** The device's MAC address, lower case, with colons. */
	readonly deviceId: string;
	/** The device's permanent UUID. */
	readonly uuid: string;
}

/** Takes a backend's URL apart. @throws SettingError */
export const parseUrl = (url: string): UrlParts => {
	const parts = splitUrl(url);
	if (parts === undefined) {
		throw new SettingError("backend", `expected scheme://host[:port][/path], got ${JSON.stringify(url)}`);
	}
	return parts;
};

/** Error about a backend's scheme for which the device has no client. */
export const unsupportedScheme = (scheme: string): SettingError =>
	new SettingError("backend", `this device does not support ${scheme}://`);

/** The options common to all channels. */
export interface ChannelOptions {
	/** The longest message from the backend, in bytes. */
	readonly maxMessageBytes: number;
	/** Maximum queued bytes. */
	readonly maxQueuedBytes: number;
	readonly log: (message: string) => void;
}

/** Divides the heap: the longest message is held about five times, as bytes, text, parsed, and in its answer. */
export const messageLimits = (chunkBytes: number) => ({
	maxMessageBytes: Math.floor(chunkBytes / 8),
	maxQueuedBytes: Math.floor(chunkBytes / 4),
});

/** The common members of ECMA-419's network clients. */
interface NetworkClient {
	/** @returns undefined if there is nothing to read, as after an empty message */
	read(count: number): ArrayBuffer | number | undefined;
	close(): void;
}

/**
 * The common part of channels on ECMA-419's network clients: messages arrive and leave in parts, as much at a time as
 * the client allows.
 *
 * While answers wait to be sent, the channel does not read. So a backend that sends faster than it reads is slowed down
 * by TCP, and the device's memory stays bounded.
 */
export abstract class QueuedChannel<Client extends NetworkClient> extends WriteQueue implements Channel {
	protected client: Client | undefined;
	protected readonly log: (message: string) => void;
	private readonly events: ChannelEvents;
	private readonly assembler: MessageAssembler;
	private readonly maxWaiting: number;
	private open = false;
	protected closed = false;
	/** A part that waits to be read. */
	private unread: Parameters<QueuedChannel<Client>["readable"]> | undefined;

	/** @param overhead bytes that the transport adds to the first part of a message */
	constructor(events: ChannelEvents, { log, maxMessageBytes, maxQueuedBytes }: ChannelOptions, overhead: number) {
		super(maxQueuedBytes, overhead);
		this.events = events;
		this.log = log;
		this.assembler = new MessageAssembler(maxMessageBytes);
		this.maxWaiting = maxQueuedBytes / 4;
	}

	abstract ping(): void;

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
		this.closed = true;
		this.client?.close();
		this.client = undefined;
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

	/**
	 * The client has a part of a message.
	 *
	 * @param more whether further parts of the same message follow
	 * @param isText whether it is text, or binary
	 */
	protected readable(count: number, more: boolean, isText: boolean): void {
		if (this.closed) {
			return;
		}
		// An empty part must be read now: the client continues with the next at once.
		if (this.queuedBytes > this.maxWaiting && count > 0) {
			this.unread = [count, more, isText];
			return;
		}
		const data = this.client?.read(count);
		if (this.closed) {
			return;
		}
		if (!more) {
			this.events.onActivity();
		}
		if (isText || this.events.onBinary !== undefined) {
			this.append(data instanceof ArrayBuffer ? data : new ArrayBuffer(0), more, isText);
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
			this.readable(...unread);
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

	private append(data: ArrayBuffer, more: boolean, isText: boolean): void {
		let message: ArrayBuffer | undefined;
		let text = "";
		try {
			message = this.assembler.append(data, more);
			text = isText && message !== undefined ? decodeText(message) : "";
		} catch (error) {
			const { message: reason, start } = error as MessageRejected;
			this.events.onDropped(reason, start);
			return;
		}
		if (message !== undefined) {
			isText ? this.events.onText(text) : this.events.onBinary?.(message);
		}
	}
}
