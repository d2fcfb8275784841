import { goodbyeMessage, ProtocolError } from "./envelope.js";
import {
	type ChannelEvents,
	parseUrl,
	QueuedChannel,
	type Transport,
	type TransportOptions,
	unsupportedScheme,
} from "./transport.js";

/** MQTT's quality of service: at most once, at least once. */
type QoS = 0 | 1;

/** Quality of service: at most once. A session ends with its connection, and nothing is repeated after it. */
const QOS: QoS = 0;

interface WriteOptions {
	readonly operation?: number;
	readonly topic?: string;
	readonly QoS?: QoS;
	/** Bytes of the whole message; this write is its first part. */
	readonly byteLength?: number;
	readonly items?: readonly { readonly topic: string; readonly QoS: QoS }[];
}

/** An instance of ECMA-419's MQTT client (https://419.ecma-international.org/). */
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

/** ECMA-419's record for an MQTT client: its class and its network options. */
export interface MqttRecord {
	readonly io: new (options: MqttClientOptions) => MqttClient;
	readonly [option: string]: unknown;
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

/** A connection through ECMA-419's MQTT client class: open once subscribed, or when the broker delivers. */
class MqttChannel extends QueuedChannel<MqttClient> {
	private readonly publishTopic: string;
	/** Empty if the backend pushes without a subscription. */
	private readonly subscribeTopic: string;
	private connected = false;
	private reading = false;

	/** Connects at once. */
	constructor(
		record: MqttRecord,
		client: Omit<MqttClientOptions, `on${string}`>,
		events: ChannelEvents,
		options: TransportOptions,
	) {
		super(events, options, ArrayBuffer.fromString(options.publishTopic).byteLength + LENGTH_AND_ID);
		this.publishTopic = options.publishTopic;
		this.subscribeTopic = options.subscribeTopic;
		this.client = new record.io({
			...record,
			...client,
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

	protected override write(bytes: Uint8Array, messageBytes: number, first: boolean): number {
		const options = first ? { topic: this.publishTopic, QoS: QOS, byteLength: messageBytes } : undefined;
		return this.client?.write(bytes, options) ?? 0;
	}

	/** Closes without a DISCONNECT, so that the broker publishes the will and the backend learns of every end. */
	override close(): void {
		const { client } = this;
		if (this.reading) {
			// The SDK's client uses its socket after onReadable. If it were closed by then, the machine would end.
			this.client = undefined;
			void Promise.resolve().then(() => client?.close());
		}
		super.close();
	}

	private onClientReadable(count: number, more: boolean): void {
		if (this.connected) {
			// A backend that delivers without a subscription may send before the broker acknowledges ours.
			this.opened();
		}
		this.reading = true;
		try {
			this.readable(count, more, true);
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
		const { subscribeTopic } = this;
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
			const reason = `broker rejected the subscription to ${this.subscribeTopic}`;
			this.fail(new ProtocolError("connection-failed", reason));
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

/** The topic prefix of this project's gateway. */
const OWN_TOPICS = "xs-mcp/";

/** The longest packet to a gateway of the xiaozhi family, in bytes: it disconnects at a longer one. */
const FAMILY_PACKET_BYTES = 8_192;

/** Bytes of a packet without topic and message: type and length, the topic's length, and the packet's id. */
const PACKET_OVERHEAD = 9;

/**
 * Reaches a backend over MQTT 3.1.1: mqtt://host[:port] (1883) or mqtts://host[:port] (8883).
 *
 * The client's keep-alive detects a dead broker. The hello names the transport "udp", as in the xiaozhi family, whose
 * backends then offer audio over UDP.
 *
 * @throws SettingError
 */
export const mqttTransport = (options: TransportOptions): Transport => {
	const { network, clientId: id, mqttUsername: user, mqttPassword: password, keepAlive, publishTopic: topic } = options;
	const { scheme, host, port = scheme === "mqtts" ? 8883 : 1883 } = parseUrl(options.backend);
	const record = scheme === "mqtt" ? network.mqtt : scheme === "mqtts" ? network.mqtts : undefined;
	if (record === undefined) {
		throw unsupportedScheme(scheme);
	}
	/** Whether the backend is this project's gateway, judged by the topic. */
	const isOwn = topic.startsWith(OWN_TOPICS);
	const overhead = PACKET_OVERHEAD + ArrayBuffer.fromString(topic).byteLength;
	return {
		name: "udp",
		version: 3,
		saysGoodbye: true,
		silenceTimeout: 0,
		mayRetain: options.subscribeTopic !== "",
		maxMessageBytes: options.maxMessageBytes,
		maxSentBytes: isOwn ? Number.POSITIVE_INFINITY : FAMILY_PACKET_BYTES - overhead,
		maxQueuedBytes: options.maxQueuedBytes,
		open(events) {
			const client = {
				host,
				port,
				id,
				...(user !== "" && { user, ...(password !== "" && { password }) }),
				keepAlive: keepAlive * 1000,
				// The goodbye of a lost device. Gateways of the xiaozhi family would read it as user name and password.
				...(isOwn && { will: { topic, message: goodbyeMessage(), QoS: QOS, retain: false } }),
			};
			return new MqttChannel(record, client, events, options);
		},
	};
};
