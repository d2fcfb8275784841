import mqtt, { type IClientOptions, type MqttClient } from "mqtt";
import { ALL_UP_TOPICS, clientIdOf, downTopic, type MqttBus, type MqttBusEvents } from "./mqtt-bus.js";

export interface ExternalBrokerOptions {
	/** mqtt://host[:port] or mqtts://… */
	readonly url: string;
	readonly username?: string;
	readonly password?: string;
	/** CA certificates of the broker, for mqtts. */
	readonly tls?: Pick<IClientOptions, "ca" | "cert" | "key">;
}

/** Retry interval for a broker that does not answer, ms. */
const RECONNECT_PERIOD = 1_000;

/** Another broker: the gateway is one of its clients, as the devices are. */
export class ExternalBroker implements MqttBus {
	readonly #client: MqttClient;

	private constructor(client: MqttClient, events: MqttBusEvents) {
		this.#client = client;
		client.handleMessage = ({ topic, payload }, done) => {
			const clientId = clientIdOf(topic);
			if (clientId !== undefined) {
				events.onMessage(clientId, payload.toString(), {});
			}
			// One message in a turn of the event loop: see DeviceConnection.
			setImmediate(done);
		};
		client.on("close", () => events.onBrokerLost("the connection to the broker is lost"));
		let lastProblem = "";
		// Once for each outage, not for each attempt.
		client.on("error", ({ message }) => {
			if (message !== lastProblem) {
				events.onRejected(`broker: ${message}`);
			}
			lastProblem = message;
		});
		// Sessions are clean, so the subscription is renewed after each connection.
		client.on("connect", () => {
			lastProblem = "";
			client.subscribe(ALL_UP_TOPICS, { qos: 1 });
		});
	}

	/** Connects, and keeps reconnecting. Rejects when the broker rejects the gateway, or the first attempt fails. */
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
		const broker = new ExternalBroker(client, events);
		await client.subscribeAsync(ALL_UP_TOPICS, { qos: 1 });
		return broker;
	}

	send(clientId: string, text: string): void {
		if (this.#client.connected) {
			this.#client.publish(downTopic(clientId), text);
		}
	}

	/** The broker itself decides which devices it admits. */
	recheck(): void {}

	async close(): Promise<void> {
		this.#client.removeAllListeners("close");
		await this.#client.endAsync();
	}
}
