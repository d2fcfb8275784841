import { deepFreeze } from "../core/text/deep-freeze.js";
import { ProtocolError } from "./envelope.js";
import {
	type ChannelEvents,
	type ChannelOptions,
	parseUrl,
	QueuedChannel,
	type Transport,
	type TransportOptions,
	unsupportedScheme,
} from "./transport.js";
import type { HandshakeRequest } from "./websocket-handshake.js";

/** An instance of ECMA-419's WebSocket client (https://419.ecma-international.org/). */
export interface WebSocketClient {
	/** @returns undefined if there is nothing to read, as after an empty message */
	read(count: number): ArrayBuffer | number | undefined;
	/** Writes all or throws. Returns how many bytes may be written next. */
	write(data: Uint8Array, options: { opcode?: number; binary?: boolean; more?: boolean }): number;
	close(): void;
}

export interface WebSocketClientOptions extends HandshakeRequest {
	/** The client's property `target`, or that of these options, which the callbacks have as `this`. */
	readonly target?: unknown;
	onReadable(count: number, options: { readonly more: boolean; readonly binary?: boolean }): void;
	onWritable(count: number): void;
	onControl(opcode: number, data: ArrayBuffer): void;
	onClose(): void;
	onError(error?: unknown): void;
}

/** ECMA-419's record for a WebSocket client: its class and its network options. */
export interface WebSocketRecord {
	readonly io: new (options: WebSocketClientOptions) => WebSocketClient;
	readonly [option: string]: unknown;
}

/** `this` of a callback: https://419.ecma-international.org/#-9-io-class-pattern */
interface Callback {
	readonly target: WebSocketChannel;
}

/** https://www.rfc-editor.org/rfc/rfc6455#section-11.8 */
const OPCODE_PING = 9;

/** A connection through ECMA-419's WebSocket client class. */
class WebSocketChannel extends QueuedChannel<WebSocketClient> {
	/** Shared by all channels: separate functions would take 50 slots for each. */
	private static readonly CALLBACKS = deepFreeze({
		onReadable(this: Callback, count: number, { more, binary }: { more: boolean; binary?: boolean }): void {
			this.target.readable(count, more, binary !== true);
		},
		onWritable(this: Callback, count: number): void {
			this.target.writable(count);
			this.target.opened();
		},
		onControl(this: Callback): void {
			this.target.heard();
		},
		onClose(this: Callback): void {
			this.target.fail(new ProtocolError("connection-closed", "the backend closed the connection"));
		},
		onError(this: Callback, cause: unknown): void {
			this.target.fail(this.target.connectionError(cause));
		},
	});

	/** Connects at once. */
	constructor(record: WebSocketRecord, request: HandshakeRequest, events: ChannelEvents, options: ChannelOptions) {
		super(events, options, 0);
		this.client = new record.io({ ...record, ...request, target: this, ...WebSocketChannel.CALLBACKS });
	}

	sendNow(message: Uint8Array): boolean {
		if (this.closed || this.room < message.byteLength) {
			return false;
		}
		try {
			this.writable(this.client?.write(message, { binary: true }) ?? 0);
			return true;
		} catch (cause) {
			this.fail(this.connectionError(cause));
			return false;
		}
	}

	override ping(): void {
		try {
			this.writable(this.client?.write(new Uint8Array(0), { opcode: OPCODE_PING }) ?? 0);
		} catch (error) {
			this.log(`could not send ping: ${String(error)}`);
		}
	}

	protected override write(bytes: Uint8Array, _messageBytes: number, _first: boolean, last: boolean): number {
		return this.client?.write(bytes, { binary: false, more: !last }) ?? 0;
	}
}

/** Reaches a backend over WebSocket: ws://host[:port]/path or wss://… @throws SettingError: a URL that cannot be used */
export const webSocketTransport = (options: TransportOptions): Transport => {
	const { network, token, deviceId, uuid, protocolVersion: version, maxMessageBytes, maxQueuedBytes } = options;
	const { scheme, host, port = scheme === "wss" ? 443 : 80, path } = parseUrl(options.backend);
	const record = scheme === "ws" ? network.ws : scheme === "wss" ? network.wss : undefined;
	if (record === undefined) {
		throw unsupportedScheme(scheme);
	}
	return {
		name: "websocket",
		version,
		saysGoodbye: false,
		silenceTimeout: 120_000,
		maxMessageBytes,
		maxSentBytes: Number.POSITIVE_INFINITY,
		maxQueuedBytes,
		open(events) {
			const headers = new Map<string, string>();
			if (token !== "") {
				// Unchanged if it names a scheme ("Basic …").
				headers.set("Authorization", token.includes(" ") ? token : `Bearer ${token}`);
			}
			headers.set("Protocol-Version", String(version));
			headers.set("Device-Id", deviceId);
			headers.set("Client-Id", uuid);
			return new WebSocketChannel(record, { host, port, path, headers }, events, options);
		},
	};
};
