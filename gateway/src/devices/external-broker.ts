import mqtt, { type IClientOptions, type MqttClient } from "mqtt";
import type { MqttBus, MqttBusEvents } from "./mqtt-bus.js";
import { ALL_UP_TOPICS, clientIdOf, downTopic } from "./mqtt-topics.js";

export interface ExternalBrokerOptions {
	/** mqtt://host[:port] or mqtts://… */
	readonly url: string;
	readonly username?: string;
	readonly password?: string;
	/** Certificates, for mqtts. */
	readonly tls?: Pick<IClientOptions, "ca" | "cert" | "key">;
}

/** Milliseconds between attempts to reach a broker that is away. */
const RECONNECT_PERIOD = 1_000;

/** Somebody else's broker: devices and gateway are its clients alike. */
export class ExternalBroker implements MqttBus {
	readonly #client: MqttClient;

	private constructor(client: MqttClient, events: MqttBusEvents) {
		this.#client = client;
		client.on("message", (topic, payload) => {
			const clientId = clientIdOf(topic);
			if (clientId !== undefined) {
				events.onMessage(clientId, payload.toString());
			}
		});
		client.on("close", () => events.onBrokerLost("the connection to the broker is lost"));
		client.on("error", (error) => events.onRefused(`broker: ${error.message}`));
		// Sessions are clean: a broker that restarts, or takes the gateway back, has to be told again.
		client.on("connect", () => client.subscribe(ALL_UP_TOPICS, { qos: 1 }));
	}

	/** Connects, and keeps reconnecting. Rejects when the broker refuses, or cannot be reached the first time. */
	static async connect(options: ExternalBrokerOptions, events: MqttBusEvents): Promise<ExternalBroker> {
		const { url, username, password, tls } = options;
		const client = await mqtt.connectAsync(
			url,
			{
				...tls,
				...(username !== undefined && { username }),
				...(password !== undefined && { password }),
				clean: true,
				reconnectPeriod: RECONNECT_PERIOD,
				resubscribe: false,
			},
			false,
		);
		await client.subscribeAsync(ALL_UP_TOPICS, { qos: 1 });
		return new ExternalBroker(client, events);
	}

	send(clientId: string, text: string): void {
		if (this.#client.connected) {
			this.#client.publish(downTopic(clientId), text);
		}
	}

	async close(): Promise<void> {
		this.#client.removeAllListeners("close");
		await this.#client.endAsync();
	}
}
