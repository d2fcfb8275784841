import type { Channel, ChannelEvents } from "./channel.js";
import { MessageAssembler } from "./message-assembler.js";
import { ProtocolError } from "./protocol-error.js";
import { type MessagePart, WriteQueue } from "./write-queue.js";

interface ReadableOptions {
	/** Whether further parts of the same message follow. */
	readonly more: boolean;
	readonly binary?: boolean;
}

/** An instance of ECMA-419's WebSocket client, as far as it is used. */
export interface WebSocketClient {
	/** @returns undefined where there is nothing to read, as after an empty message */
	read(count: number): ArrayBuffer | number | undefined;
	/** Writes all or throws. Returns how many bytes may be written next. */
	write(data: Uint8Array, options: { opcode?: number; binary?: boolean; more?: boolean }): number;
	close(): void;
}

export interface WebSocketClientOptions {
	readonly host: string;
	readonly port: number;
	readonly path: string;
	readonly headers: Map<string, string>;
	onReadable(count: number, options: ReadableOptions): void;
	onWritable(count: number): void;
	onControl(opcode: number, data: ArrayBuffer): void;
	onClose(): void;
	onError(error?: unknown): void;
}

/** ECMA-419's record for a WebSocket client: its class, and the options that say how it reaches the network. */
export interface WebSocketRecord {
	readonly io: new (options: WebSocketClientOptions) => WebSocketClient;
	readonly [option: string]: unknown;
}

export interface WebSocketChannelOptions {
	readonly record: WebSocketRecord;
	readonly host: string;
	readonly port: number;
	readonly path: string;
	readonly headers: Map<string, string>;
	readonly maxMessageBytes: number;
	readonly maxQueuedBytes: number;
	readonly events: ChannelEvents;
	readonly log: (message: string) => void;
}

/** RFC 6455 §11.8. */
const OPCODE_PING = 9;

/** A connection through ECMA-419's WebSocket client class. */
export class WebSocketChannel implements Channel {
	readonly #events: ChannelEvents;
	readonly #log: (message: string) => void;
	readonly #assembler: MessageAssembler;
	readonly #queue: WriteQueue;
	readonly #maxWaiting: number;
	#client: WebSocketClient | undefined;
	#open = false;
	#closed = false;
	/** What the client has to read while answers to earlier messages still wait to be sent. */
	#unread: { count: number; options: ReadableOptions } | undefined;

	/** Connects at once. */
	constructor(options: WebSocketChannelOptions) {
		this.#events = options.events;
		this.#log = options.log;
		this.#assembler = new MessageAssembler(options.maxMessageBytes);
		this.#queue = new WriteQueue(options.maxQueuedBytes, (part) => this.#writePart(part));
		this.#maxWaiting = options.maxQueuedBytes / 2;
		const { record, host, port, path, headers } = options;
		this.#client = new record.io({
			...record,
			host,
			port,
			path,
			headers,
			onReadable: (count, readable) => this.#readable(count, readable),
			onWritable: (count) => this.#writable(count),
			onControl: () => this.#closed || this.#events.onActivity(),
			onClose: () => this.#fail(new ProtocolError("connection-closed", "the backend closed the connection")),
			onError: (cause) => this.#fail(this.#connectionError(cause)),
		});
	}

	send(text: string): void {
		if (this.#closed) {
			return;
		}
		const message = ArrayBuffer.fromString(text);
		if (!this.#queue.push(message)) {
			const waiting = `${this.#queue.bytes} bytes wait, ${message.byteLength} more do not fit`;
			this.#fail(new ProtocolError("send-queue-full", `the backend does not read: ${waiting}`));
		}
	}

	ping(): void {
		try {
			this.#client?.write(new Uint8Array(0), { opcode: OPCODE_PING });
		} catch (error) {
			this.#log(`ping not sent: ${String(error)}`);
		}
	}

	close(): void {
		this.#closed = true;
		this.#client?.close();
		this.#client = undefined;
	}

	#readable(count: number, options: ReadableOptions): void {
		if (this.#closed) {
			return;
		}
		this.#events.onActivity();
		if (this.#queue.bytes > this.#maxWaiting) {
			this.#unread = { count, options };
			return;
		}
		const data = this.#client?.read(count);
		if (options.binary) {
			return;
		}
		this.#append(data instanceof ArrayBuffer ? data : new ArrayBuffer(0), options.more);
	}

	#append(part: ArrayBuffer, more: boolean): void {
		let text: string | undefined;
		try {
			text = this.#assembler.append(part, more);
		} catch (error) {
			this.#log((error as Error).message);
			return;
		}
		if (text !== undefined) {
			this.#events.onText(text);
		}
	}

	#writable(count: number): void {
		if (this.#closed) {
			return;
		}
		this.#queue.onWritable(count);
		if (!this.#open) {
			this.#open = true;
			this.#events.onOpen();
		}
		const unread = this.#unread;
		if (unread !== undefined && this.#queue.bytes <= this.#maxWaiting) {
			this.#unread = undefined;
			this.#readable(unread.count, unread.options);
		}
	}

	#writePart({ bytes, last }: MessagePart): number {
		try {
			return this.#client?.write(bytes, { binary: false, more: !last }) ?? 0;
		} catch (cause) {
			this.#fail(this.#connectionError(cause));
			return 0;
		}
	}

	#connectionError(cause: unknown): ProtocolError {
		const detail = cause instanceof Error ? `: ${cause.message}` : "";
		const message = this.#open ? `the connection broke${detail}` : `no connection${detail}`;
		return new ProtocolError("connection-failed", message, { cause });
	}

	#fail(error: ProtocolError): void {
		if (!this.#closed) {
			this.close();
			this.#events.onClose(error);
		}
	}
}
