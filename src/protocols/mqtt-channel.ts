import type { ChannelEvents } from "./channel.js";
import { ProtocolError } from "./protocol-error.js";
import { type ChannelOptions, QueuedChannel } from "./queued-channel.js";

/** MQTT's quality of service: at most once, at least once. */
export type QoS = 0 | 1;

interface WriteOptions {
	readonly operation?: number;
	readonly topic?: string;
	readonly QoS?: QoS;
	/** Bytes of the whole message; this write is its first part. */
	readonly byteLength?: number;
	readonly items?: readonly { readonly topic: string; readonly QoS: QoS }[];
}

/** An instance of ECMA-419's MQTT client (https://419.ecma-international.org/), as far as it is used. */
export interface MqttClient {
	read(count: number): ArrayBuffer | number | undefined;
	/** Writes all or throws. A message's further parts are written without options. Returns how many bytes may follow. */
	write(data: Uint8Array, options?: WriteOptions): number;
	close(): void;
}

/** What the broker publishes when the device is gone without a word. */
interface Will {
	readonly topic: string;
	readonly message: string;
	readonly QoS: QoS;
	readonly retain: boolean;
}

export interface MqttClientOptions {
	readonly host: string;
	readonly port: number;
	readonly id: string;
	readonly user?: string;
	readonly password?: string;
	/** Milliseconds. */
	readonly keepAlive: number;
	readonly will?: Will;
	onReadable(count: number, options: { readonly more: boolean }): void;
	onWritable(count: number): void;
	/** The SDK's typings have the operation first; its client passes the message alone. */
	onControl(...args: unknown[]): void;
	onClose(): void;
	onError(error?: unknown): void;
}

/** ECMA-419's record for an MQTT client: its class, and the options that say how it reaches the network. */
export interface MqttRecord {
	readonly io: new (options: MqttClientOptions) => MqttClient;
	readonly [option: string]: unknown;
}

/** Where to connect, with what, and the topics. */
interface MqttTarget {
	readonly record: MqttRecord;
	readonly client: Pick<MqttClientOptions, "host" | "port" | "id" | "user" | "password" | "keepAlive" | "will">;
	/** Where the device's messages go. */
	readonly publishTopic: string;
	/** Where the backend's come from; empty when it pushes without a subscription. */
	readonly subscribeTopic: string;
	readonly qos: QoS;
}

/** https://docs.oasis-open.org/mqtt/mqtt/v3.1.1/mqtt-v3.1.1.html §2.2.1 */
const SUBSCRIBE = 8;
const SUBACK = 9;
const PINGREQ = 12;

/** The broker rejects the subscription: https://docs.oasis-open.org/mqtt/mqtt/v3.1.1/mqtt-v3.1.1.html §3.9.3 */
const FAILURE = 0x80;

/** The length that stands before a topic, and a packet's id. */
const LENGTH_AND_ID = 4;

const NOTHING = new Uint8Array(0);

/**
 * A connection through ECMA-419's MQTT client class: it is open when the broker has taken the subscription, or delivers
 * without one.
 */
export class MqttChannel extends QueuedChannel {
	readonly #target: MqttTarget;
	#client: MqttClient | undefined;
	#connected = false;
	/** Whether the client is telling of what it has read. */
	#reading = false;

	/** Connects at once. */
	constructor(target: MqttTarget, events: ChannelEvents, options: ChannelOptions) {
		super(events, options, ArrayBuffer.fromString(target.publishTopic).byteLength + LENGTH_AND_ID);
		this.#target = target;
		this.#client = new target.record.io({
			...target.record,
			...target.client,
			onReadable: (count, { more }) => this.#read(count, more),
			onWritable: (count) => this.#writable(count),
			onControl: (...args) => this.#control(args.at(-1) as { operation?: number; payload?: ArrayLike<number> }),
			onClose: () => this.fail(new ProtocolError("connection-closed", "the broker closed the connection")),
			onError: (cause) => this.fail(this.connectionError(cause)),
		});
	}

	override ping(): void {
		this.writable(this.#write({ operation: PINGREQ }));
	}

	protected override readPart(count: number): ArrayBuffer | number | undefined {
		return this.#client?.read(count);
	}

	protected override writePart(bytes: Uint8Array, messageBytes: number, first: boolean): number {
		const { publishTopic, qos } = this.#target;
		const options = first ? { topic: publishTopic, QoS: qos, byteLength: messageBytes } : undefined;
		return this.#client?.write(bytes, options) ?? 0;
	}

	/** Without a DISCONNECT: the broker publishes the will, and so the backend hears of every end, however it came. */
	protected override closeClient(): void {
		const client = this.#client;
		this.#client = undefined;
		if (this.#reading) {
			// The SDK's client goes on with its socket when onReadable returns. Closed by then, that would end the machine.
			void Promise.resolve().then(() => client?.close());
		} else {
			client?.close();
		}
	}

	#read(count: number, more: boolean): void {
		if (this.#connected) {
			// A backend that delivers without a subscription may speak before the broker has answered ours.
			this.opened();
		}
		this.#reading = true;
		try {
			this.readable({ count, more, text: true });
		} finally {
			this.#reading = false;
		}
	}

	#writable(count: number): void {
		if (this.closed) {
			return;
		}
		if (this.#connected) {
			this.writable(count);
			return;
		}
		this.#connected = true;
		const { subscribeTopic, qos } = this.#target;
		if (subscribeTopic === "") {
			this.writable(count);
			this.opened();
		} else {
			this.writable(this.#write({ operation: SUBSCRIBE, items: [{ topic: subscribeTopic, QoS: qos }] }));
		}
	}

	#control({ operation, payload }: { operation?: number; payload?: ArrayLike<number> }): void {
		if (operation !== SUBACK) {
			return;
		}
		if (payload?.[0] === FAILURE) {
			const { subscribeTopic } = this.#target;
			this.fail(new ProtocolError("connection-failed", `broker rejected the subscription to ${subscribeTopic}`));
		} else {
			this.opened();
		}
	}

	/** A control packet. Where there is no room for one the connection is about to show it anyway. */
	#write(options: WriteOptions): number {
		try {
			return this.#client?.write(NOTHING, options) ?? 0;
		} catch (error) {
			this.log(`could not send MQTT ${options.operation}: ${String(error)}`);
			return 0;
		}
	}
}
