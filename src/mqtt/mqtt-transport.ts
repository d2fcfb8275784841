import { goodbyeMessage } from "../protocols/envelope.js";
import { type ChannelOptions, DEFAULT_LIMIT } from "../protocols/queued-channel.js";
import type { Channel, ChannelEvents, Transport } from "../protocols/transport.js";
import { parseUrl, unsupportedScheme } from "../protocols/transport.js";
import { MqttChannel, type MqttRecord, QOS } from "./mqtt-channel.js";

export interface MqttTransportOptions extends ChannelOptions {
	/** mqtt://host[:port] (1883) or mqtts://host[:port] (8883). */
	readonly url: string;
	readonly clientId: string;
	/** Empty for none. */
	readonly username?: string;
	readonly password?: string;
	/** Milliseconds. Default 240,000. */
	readonly keepAlive?: number;
	readonly publishTopic: string;
	/** Empty if the backend pushes to the client without a subscription. */
	readonly subscribeTopic?: string;
	/** ECMA-419's records for the MQTT client: plain, and over TLS where the platform has that. Audio needs `openUdp`. */
	readonly network: { readonly mqtt?: MqttRecord; readonly mqtts?: MqttRecord; readonly openUdp?: unknown };
}

const KEEP_ALIVE = 240_000;

/** The topic prefix of this project's gateway. */
const OWN_TOPICS = "xs-mcp/";

/** The longest packet to a gateway of the xiaozhi family, in bytes: it disconnects at a longer one. */
const FAMILY_PACKET_BYTES = 8_192;

/** Bytes of a packet besides topic and message: type and length, the topic's length, and the packet's id. */
const PACKET_OVERHEAD = 9;

/**
 * Reaches a backend over MQTT 3.1.1.
 *
 * The client's keep-alive detects a dead broker. The hello names the transport "udp", as in the xiaozhi family, whose
 * backends then offer audio over UDP.
 */
export class MqttTransport implements Transport {
	readonly name = "udp";
	readonly version = 3;
	readonly saysGoodbye = true;
	readonly silenceTimeout = 0;
	readonly carriesAudio: boolean;
	readonly mayRetain: boolean;
	readonly maxMessageBytes: number;
	readonly maxSentBytes: number;
	private readonly options: MqttTransportOptions;
	private readonly record: MqttRecord;
	private readonly host: string;
	private readonly port: number;
	/** Whether the backend is this project's gateway, judged by the topic. */
	private readonly isOwn: boolean;

	/** @throws SettingError */
	constructor(options: MqttTransportOptions) {
		const { scheme, host, port } = parseUrl(options.url);
		const record = scheme === "mqtt" ? options.network.mqtt : scheme === "mqtts" ? options.network.mqtts : undefined;
		if (record === undefined) {
			throw unsupportedScheme(scheme);
		}
		this.maxMessageBytes = options.maxMessageBytes ?? DEFAULT_LIMIT;
		this.isOwn = options.publishTopic.startsWith(OWN_TOPICS);
		const topicBytes = ArrayBuffer.fromString(options.publishTopic).byteLength;
		this.maxSentBytes = this.isOwn ? Number.POSITIVE_INFINITY : FAMILY_PACKET_BYTES - PACKET_OVERHEAD - topicBytes;
		this.carriesAudio = options.network.openUdp !== undefined;
		this.mayRetain = (options.subscribeTopic ?? "") !== "";
		this.options = options;
		this.record = record;
		this.host = host;
		this.port = port ?? (scheme === "mqtts" ? 8883 : 1883);
	}

	open(events: ChannelEvents): Channel {
		const { clientId, username = "", password = "", publishTopic, subscribeTopic = "" } = this.options;
		const client = {
			host: this.host,
			port: this.port,
			id: clientId,
			...(username !== "" && { user: username, ...(password !== "" && { password }) }),
			keepAlive: this.options.keepAlive ?? KEEP_ALIVE,
			// The goodbye of a device that disconnects without one. Gateways of the xiaozhi family would take it for user name and password.
			...(this.isOwn && { will: { topic: publishTopic, message: goodbyeMessage(), QoS: QOS, retain: false } }),
		};
		return new MqttChannel({ record: this.record, client, publishTopic, subscribeTopic }, events, this.options);
	}
}
