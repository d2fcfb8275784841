import { type ChannelOptions, QueuedChannel } from "../protocols/queued-channel.js";
import type { ChannelEvents } from "../protocols/transport.js";
import { ProtocolError } from "../protocols/transport.js";

/** MQTT's quality of service: at most once, at least once. */
export type QoS = 0 | 1;

/** At most once: a session ends with its connection, and nothing is repeated after it. */
export const QOS: QoS = 0;

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

/** The message that the broker publishes when the connection is lost. */
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
	/** The SDK's typings put the operation first; its client passes only the message. */
	onControl(...args: unknown[]): void;
	onClose(): void;
	onError(error?: unknown): void;
}

/** ECMA-419's record for an MQTT client: its class, and the options that say how it reaches the network. */
export interface MqttRecord {
	readonly io: new (options: MqttClientOptions) => MqttClient;
	readonly [option: string]: unknown;
}

interface MqttTarget {
	readonly record: MqttRecord;
	readonly client: Pick<MqttClientOptions, "host" | "port" | "id" | "user" | "password" | "keepAlive" | "will">;
	/** The topic of the device's messages. */
	readonly publishTopic: string;
	/** The topic of the backend's messages; empty if it pushes without a subscription. */
	readonly subscribeTopic: string;
}

/** https://docs.oasis-open.org/mqtt/mqtt/v3.1.1/mqtt-v3.1.1.html §2.2.1 */
const SUBSCRIBE = 8;
const SUBACK = 9;
const PINGREQ = 12;

/** The broker rejects the subscription: https://docs.oasis-open.org/mqtt/mqtt/v3.1.1/mqtt-v3.1.1.html §3.9.3 */
const FAILURE = 0x80;

/** Bytes of a topic's length, and of a packet's id. */
const LENGTH_AND_ID = 4;

const NOTHING = new Uint8Array(0);

/**
 * A connection through ECMA-419's MQTT client class: open once the broker has accepted the subscription, or delivers
 * without one.
 */
export class MqttChannel extends QueuedChannel {
	private readonly target: MqttTarget;
	private client: MqttClient | undefined;
	private connected = false;
	private reading = false;

	/** Connects at once. */
	constructor(target: MqttTarget, events: ChannelEvents, options: ChannelOptions) {
		super(events, options, ArrayBuffer.fromString(target.publishTopic).byteLength + LENGTH_AND_ID);
		this.target = target;
		this.client = new target.record.io({
			...target.record,
			...target.client,
			onReadable: (count, { more }) => this.onClientReadable(count, more),
			onWritable: (count) => this.onClientWritable(count),
			onControl: (...args) => this.onControl(args.at(-1) as { operation?: number; payload?: ArrayLike<number> }),
			onClose: () => this.fail(new ProtocolError("connection-closed", "the broker closed the connection")),
			onError: (cause) => this.fail(this.connectionError(cause)),
		});
	}

	override ping(): void {
		this.writable(this.sendControl({ operation: PINGREQ }));
	}

	protected override readPart(count: number): ArrayBuffer | number | undefined {
		return this.client?.read(count);
	}

	override write(bytes: Uint8Array, messageBytes: number, first: boolean): number {
		const { publishTopic } = this.target;
		const options: WriteOptions | undefined = first
			? { topic: publishTopic, QoS: QOS, byteLength: messageBytes }
			: undefined;
		return this.client?.write(bytes, options) ?? 0;
	}

	/** Closes without a DISCONNECT, so that the broker publishes the will and the backend learns of every end. */
	protected override closeClient(): void {
		const client = this.client;
		this.client = undefined;
		if (this.reading) {
			// The SDK's client uses its socket after onReadable. If it were closed by then, the machine would end.
			void Promise.resolve().then(() => client?.close());
		} else {
			client?.close();
		}
	}

	private onClientReadable(count: number, more: boolean): void {
		if (this.connected) {
			// A backend that delivers without a subscription may send before the broker acknowledges ours.
			this.opened();
		}
		this.reading = true;
		try {
			this.readable({ count, more, text: true });
		} finally {
			this.reading = false;
		}
	}

	private onClientWritable(count: number): void {
		if (this.closed) {
			return;
		}
		if (this.connected) {
			this.writable(count);
			return;
		}
		this.connected = true;
		const { subscribeTopic } = this.target;
		if (subscribeTopic === "") {
			this.writable(count);
			this.opened();
		} else {
			this.writable(this.sendControl({ operation: SUBSCRIBE, items: [{ topic: subscribeTopic, QoS: QOS }] }));
		}
	}

	private onControl({ operation, payload }: { operation?: number; payload?: ArrayLike<number> }): void {
		if (operation !== SUBACK) {
			return;
		}
		if (payload?.[0] === FAILURE) {
			const { subscribeTopic } = this.target;
			this.fail(new ProtocolError("connection-failed", `broker rejected the subscription to ${subscribeTopic}`));
		} else {
			this.opened();
		}
	}

	/** Sends a control packet, if there is room: a stalled connection is detected anyway. */
	private sendControl(options: WriteOptions): number {
		try {
			return this.client?.write(NOTHING, options) ?? 0;
		} catch (error) {
			this.log(`could not send MQTT ${options.operation}: ${String(error)}`);
			return 0;
		}
	}
}
