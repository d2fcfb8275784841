import { goodbyeMessage } from "../protocols/envelope.js";
import { DEFAULT_LIMIT } from "../protocols/queued-channel.js";
import type { Channel, ChannelEvents, Transport, TransportOptions } from "../protocols/transport.js";
import { parseUrl, unsupportedScheme } from "../protocols/transport.js";
import { MqttChannel, type MqttRecord, QOS } from "./mqtt-channel.js";

/** The topic prefix of this project's gateway. */
const OWN_TOPICS = "xs-mcp/";

/** The longest packet to a gateway of the xiaozhi family, in bytes: it disconnects at a longer one. */
const FAMILY_PACKET_BYTES = 8_192;

/** Bytes of a packet besides topic and message: type and length, the topic's length, and the packet's id. */
const PACKET_OVERHEAD = 9;

/**
 * Reaches a backend over MQTT 3.1.1: mqtt://host[:port] (1883) or mqtts://host[:port] (8883).
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
	private readonly options: TransportOptions;
	private readonly record: MqttRecord;
	private readonly host: string;
	private readonly port: number;
	/** Whether the backend is this project's gateway, judged by the topic. */
	private readonly isOwn: boolean;

	/** @throws SettingError */
	constructor(options: TransportOptions) {
		const { scheme, host, port } = parseUrl(options.backend);
		const record = scheme === "mqtt" ? options.network.mqtt : scheme === "mqtts" ? options.network.mqtts : undefined;
		if (record === undefined) {
			throw unsupportedScheme(scheme);
		}
		this.maxMessageBytes = options.maxMessageBytes ?? DEFAULT_LIMIT;
		this.isOwn = options.publishTopic.startsWith(OWN_TOPICS);
		const topicBytes = ArrayBuffer.fromString(options.publishTopic).byteLength;
		this.maxSentBytes = this.isOwn ? Number.POSITIVE_INFINITY : FAMILY_PACKET_BYTES - PACKET_OVERHEAD - topicBytes;
		this.carriesAudio = options.network.openUdp !== undefined;
		this.mayRetain = options.subscribeTopic !== "";
		this.options = options;
		this.record = record;
		this.host = host;
		this.port = port ?? (scheme === "mqtts" ? 8883 : 1883);
	}

	open(events: ChannelEvents): Channel {
		const { clientId, mqttUsername: user, mqttPassword: password, publishTopic, subscribeTopic } = this.options;
		const client = {
			host: this.host,
			port: this.port,
			id: clientId,
			...(user !== "" && { user, ...(password !== "" && { password }) }),
			keepAlive: this.options.keepAlive * 1000,
			// The goodbye of a device that disconnects without one. Gateways of the xiaozhi family would take it for user name and password.
			...(this.isOwn && { will: { topic: publishTopic, message: goodbyeMessage(), QoS: QOS, retain: false } }),
		};
		return new MqttChannel({ record: this.record, client, publishTopic, subscribeTopic }, events, this.options);
	}
}
