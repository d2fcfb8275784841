import { type ChannelOptions, DEFAULT_LIMIT } from "./queued-channel.js";
import type { Channel, ChannelEvents, Transport } from "./transport.js";
import { parseUrl, unsupportedScheme } from "./transport.js";
import { WebSocketChannel, type WebSocketRecord } from "./websocket-channel.js";

export interface WebSocketTransportOptions extends ChannelOptions {
	/** ws://host[:port]/path or wss://… */
	readonly url: string;
	/** Sent as `Authorization: Bearer …`, or unchanged if it names a scheme ("Basic …"). Not sent if empty. */
	readonly token?: string;
	/** How binary audio is framed, and the hello's version: 1, 2 or 3. Default 1. */
	readonly protocolVersion?: 1 | 2 | 3;
	/** The device's MAC address, lower case, with colons. */
	readonly deviceId: string;
	/** The device's permanent UUID. */
	readonly clientId: string;
	/** ECMA-419's records for the WebSocket client: plain, and over TLS where the platform has that. */
	readonly network: { readonly ws?: WebSocketRecord; readonly wss?: WebSocketRecord };
}

/** Reaches a backend over WebSocket. */
export class WebSocketTransport implements Transport {
	readonly name = "websocket";
	readonly version: 1 | 2 | 3;
	readonly saysGoodbye = false;
	readonly silenceTimeout = 120_000;
	readonly carriesAudio = true;
	readonly maxMessageBytes: number;
	readonly maxSentBytes = Number.POSITIVE_INFINITY;
	private readonly options: WebSocketTransportOptions;
	private readonly record: WebSocketRecord;
	private readonly target: { readonly host: string; readonly port: number; readonly path: string };

	/** @throws SettingError: a URL or token that cannot be used */
	constructor(options: WebSocketTransportOptions) {
		const { scheme, host, port, path } = parseUrl(options.url);
		const record = scheme === "ws" ? options.network.ws : scheme === "wss" ? options.network.wss : undefined;
		if (record === undefined) {
			throw unsupportedScheme(scheme);
		}
		this.version = options.protocolVersion ?? 1;
		this.maxMessageBytes = options.maxMessageBytes ?? DEFAULT_LIMIT;
		this.options = options;
		this.record = record;
		this.target = { host, port: port ?? (scheme === "wss" ? 443 : 80), path };
	}

	open(events: ChannelEvents): Channel {
		const { token = "", deviceId, clientId } = this.options;
		const headers = new Map<string, string>();
		if (token !== "") {
			headers.set("Authorization", token.includes(" ") ? token : `Bearer ${token}`);
		}
		headers.set("Protocol-Version", String(this.version));
		headers.set("Device-Id", deviceId);
		headers.set("Client-Id", clientId);
		return new WebSocketChannel({ ...this.target, record: this.record, headers }, events, this.options);
	}
}
