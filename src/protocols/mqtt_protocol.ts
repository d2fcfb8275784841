import type { Channel, ChannelEvents } from "./channel.js";
import { goodbyeMessage } from "./envelope.js";
import { MqttChannel, type MqttRecord, type QoS } from "./mqtt-channel.js";
import { Protocol, type ProtocolOptions } from "./protocol.js";
import { ProtocolError } from "./protocol-error.js";
import type { ChannelLimits } from "./queued-channel.js";
import { parseUrl } from "./url.js";

export interface MqttProtocolOptions extends ProtocolOptions, ChannelLimits {
	/** mqtt://host[:port] (1883) or mqtts://host[:port] (8883). */
	readonly url: string;
	readonly clientId: string;
	/** Empty for none. */
	readonly username?: string;
	readonly password?: string;
	/** Milliseconds. Default 240,000. */
	readonly keepAlive?: number;
	readonly publishTopic: string;
	/** Empty where the backend pushes to the client without a subscription. */
	readonly subscribeTopic?: string;
	/** Default 0. */
	readonly qos?: QoS;
	/** "udp" for a backend that opens an encrypted audio channel: its hello then carries `udp`. Default "mqtt". */
	readonly transport?: "mqtt" | "udp";
	/** ECMA-419's records for the MQTT client: plain, and over TLS where the host has that. */
	readonly network: { readonly mqtt?: MqttRecord; readonly mqtts?: MqttRecord };
}

const KEEP_ALIVE = 240_000;

/**
 * A session with a backend over MQTT 3.1.1.
 *
 * The client's own keep-alive tells a dead broker. A dead device is told by its will: the goodbye that it could not say.
 */
export class MqttProtocol extends Protocol {
	protected readonly transport: string;
	protected readonly version = 3;
	protected override readonly saysGoodbye = true;
	readonly #options: MqttProtocolOptions;
	readonly #record: MqttRecord;
	readonly #host: string;
	readonly #port: number;

	/** @throws ProtocolError "bad-config" that names the setting */
	constructor(options: MqttProtocolOptions) {
		super(options);
		const { scheme, host, port } = parseUrl(options.url);
		const record = scheme === "mqtt" ? options.network.mqtt : scheme === "mqtts" ? options.network.mqtts : undefined;
		if (record === undefined) {
			throw new ProtocolError("bad-config", `backend: ${scheme}:// is no MQTT that this device can open`);
		}
		if (options.publishTopic === "" || /[#+]/.test(options.publishTopic)) {
			throw new ProtocolError("bad-config", "publishTopic: expected a topic without wildcards");
		}
		this.transport = options.transport ?? "mqtt";
		this.#options = options;
		this.#record = record;
		this.#host = host;
		this.#port = port ?? (scheme === "mqtts" ? 8883 : 1883);
	}

	protected override connect(events: ChannelEvents): Channel {
		const { clientId, username = "", password = "", publishTopic, subscribeTopic = "", qos = 0 } = this.#options;
		return new MqttChannel({
			record: this.#record,
			client: {
				host: this.#host,
				port: this.#port,
				id: clientId,
				// MQTT 3.1.1 §3.1.2.9: no password without a user name.
				...(username !== "" && { user: username, ...(password !== "" && { password }) }),
				keepAlive: this.#options.keepAlive ?? KEEP_ALIVE,
				will: { topic: publishTopic, message: goodbyeMessage(), QoS: qos, retain: false },
			},
			publishTopic,
			subscribeTopic,
			qos,
			maxMessageBytes: this.#options.maxMessageBytes,
			maxQueuedBytes: this.#options.maxQueuedBytes,
			events,
			log: this.#options.log,
		});
	}
}
