import type { HttpClientOptions, HttpClientRequestOptions } from "src/protocols/http-client";
import type { MqttClient, MqttClientOptions } from "src/protocols/mqtt-channel";
import type { NetworkClients } from "src/protocols/transport";
import type { WebSocketClientOptions } from "src/protocols/websocket-channel";
import { NetworkClient, type Secure } from "./network-client.js";

/** Stands in for ECMA-419's HTTP client (`embedded:network/http/client`), and for its only request: Node makes it. */
export class HTTPClient extends NetworkClient<null> {
	readonly #options: HttpClientOptions & Secure;
	#request: HttpClientRequestOptions | undefined;
	/** Bytes of the body still to write. */
	#remaining = 0;

	constructor(options: HttpClientOptions & Secure) {
		super("http", {
			onReadable: (count) => this.#request?.onReadable(count),
			onWritable: (count) => {
				if (this.#remaining > 0) {
					this.#request?.onWritable(Math.min(count, this.#remaining));
				}
			},
			onClose: () => this.#request?.onDone(null),
			onError: (error) => {
				this.#request?.onDone(error);
				options.onError(error);
			},
		});
		this.#options = options;
	}

	request(options: HttpClientRequestOptions): this {
		if (this.#request !== undefined) {
			throw new Error("this HTTP client makes only one request");
		}
		this.#request = options;
		const { host, port, secure = false } = this.#options;
		const { method, path, headers } = options;
		const [, length] = [...headers].find(([name]) => name.toLowerCase() === "content-length") ?? [];
		this.#remaining = Number(length ?? 0);
		this.tell("open", { host, port, secure, method, path, bodyBytes: this.#remaining }, [...headers]);
		return this;
	}

	/** Returns 0 once the body is complete, as the SDK does. */
	write(data: Uint8Array): number {
		this.expectRoom(data.byteLength);
		this.#remaining = this.expectRest(data.byteLength, this.#remaining);
		return Math.min(this.writeBytes(data), this.#remaining);
	}

	/** @internal As in the SDK: the end is reported when everything was read. */
	override closed(): void {
		this.whenRead(() => super.closed());
	}

	/** @internal */
	override error(message: string): void {
		this.whenRead(() => super.error(message));
	}

	/** @internal The response begins. */
	headers(status: number, headers: readonly (readonly [string, string])[]): void {
		const { headersMask = [], onHeaders } = this.#request ?? {};
		onHeaders?.(status, new Map(headers.filter(([name]) => headersMask.includes(name))));
	}
}

interface Part {
	readonly more: boolean;
	/** WebSocket: whether the message is binary. */
	readonly binary: boolean;
	/** MQTT, with the first part of a message. */
	readonly topic?: string;
	readonly byteLength?: number;
	readonly QoS?: number;
}

const PUBLISH = 3;

/**
 * Stands in for ECMA-419's MQTT client (`embedded:network/mqtt/client`): Node makes and reads the packets with
 * `mqtt-packet`.
 */
export class MQTTClient extends NetworkClient<Part> {
	readonly #options: MqttClientOptions & Secure;
	/** Bytes of the current message still to write. */
	#remaining = 0;

	constructor(options: MqttClientOptions & Secure) {
		super("mqtt", options);
		this.#options = options;
		const { host, port, id: clientId, user, password, keepAlive, will, secure = false } = options;
		this.tell("open", { host, port, clientId, user, password, keepAlive, will, secure });
	}

	/** Rejects anything but further parts while a message is incomplete. */
	write(...[data, options]: Parameters<MqttClient["write"]>): number {
		const bytes = data.byteLength;
		this.expectRoom(bytes);
		if (options === undefined) {
			this.#remaining = this.expectRest(bytes, this.#remaining);
		} else if (this.#remaining > 0) {
			throw new Error("a message is not whole yet");
		} else if ((options.operation ?? PUBLISH) === PUBLISH) {
			this.#remaining = (options.byteLength ?? bytes) - bytes;
		}
		return this.writeBytes(data, options ?? null);
	}

	/** @internal A packet other than a message. */
	control(message: object): void {
		this.#options.onControl(message);
	}
}

/** Stands in for ECMA-419's WebSocket client. */
export class WebSocketClient extends NetworkClient<Part> {
	readonly #options: WebSocketClientOptions & Secure;

	constructor(options: WebSocketClientOptions & Secure) {
		super("ws", options);
		this.#options = options;
		const { host, port, path, headers, secure } = options;
		const authority = host.includes(":") ? `[${host}]` : host;
		this.tell("open", `${secure ? "wss" : "ws"}://${authority}:${port}${path}`, [...headers]);
	}

	write(
		data: ArrayBuffer | Uint8Array,
		{ opcode, binary = true, more = false }: { opcode?: number; binary?: boolean; more?: boolean } = {},
	): number {
		this.expectRoom(data.byteLength);
		return this.writeBytes(data, opcode ?? (binary ? 2 : 1), more);
	}

	/** @internal A ping, a pong or a close frame. */
	control(opcode: number, data = new ArrayBuffer(0)): void {
		this.#options.onControl(opcode, data);
	}
}

/** The virtual device's network clients, as ECMA-419's records. */
const network = {
	ws: { io: WebSocketClient },
	wss: { io: WebSocketClient, secure: true },
	mqtt: { io: MQTTClient },
	mqtts: { io: MQTTClient, secure: true },
	http: { io: HTTPClient },
	https: { io: HTTPClient, secure: true },
};

export function openNetwork(): NetworkClients {
	return network;
}
