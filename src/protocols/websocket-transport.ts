import { DEFAULT_LIMIT } from "./queued-channel.js";
import {
	type Channel,
	type ChannelEvents,
	parseUrl,
	type Transport,
	type TransportOptions,
	unsupportedScheme,
} from "./transport.js";
import { WebSocketChannel, type WebSocketRecord } from "./websocket-channel.js";

/** Reaches a backend over WebSocket: ws://host[:port]/path or wss://… */
export class WebSocketTransport implements Transport {
	readonly name = "websocket";
	readonly version: 1 | 2 | 3;
	readonly saysGoodbye = false;
	readonly silenceTimeout = 120_000;
	readonly carriesAudio = true;
	readonly maxMessageBytes: number;
	readonly maxSentBytes = Number.POSITIVE_INFINITY;
	private readonly options: TransportOptions;
	private readonly record: WebSocketRecord;
	private readonly target: { readonly host: string; readonly port: number; readonly path: string };

	/** @throws SettingError: a URL or token that cannot be used */
	constructor(options: TransportOptions) {
		const { scheme, host, port, path } = parseUrl(options.backend);
		const record = scheme === "ws" ? options.network.ws : scheme === "wss" ? options.network.wss : undefined;
		if (record === undefined) {
			throw unsupportedScheme(scheme);
		}
		this.version = options.protocolVersion;
		this.maxMessageBytes = options.maxMessageBytes ?? DEFAULT_LIMIT;
		this.options = options;
		this.record = record;
		this.target = { host, port: port ?? (scheme === "wss" ? 443 : 80), path };
	}

	open(events: ChannelEvents): Channel {
		const { token, deviceId, uuid } = this.options;
		const headers = new Map<string, string>();
		if (token !== "") {
			// Unchanged if it names a scheme ("Basic …").
			headers.set("Authorization", token.includes(" ") ? token : `Bearer ${token}`);
		}
		headers.set("Protocol-Version", String(this.version));
		headers.set("Device-Id", deviceId);
		headers.set("Client-Id", uuid);
		return new WebSocketChannel({ ...this.target, record: this.record, headers }, events, this.options);
	}
}
