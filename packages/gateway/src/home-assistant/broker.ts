import mqtt, { type MqttClient } from "mqtt";
import { readPem } from "../config/tls-files.js";
import type { RunningGateway } from "../gateway.js";
import { ALL_COMMANDS, gatewayTopic } from "./topics.js";

/** Retry interval for a broker that does not answer, ms. */
const RECONNECT_PERIOD = 2_000;

/** Home Assistant's broker, and the messages that it is to retain: they are sent again after each connection. */
export class BrokerConnection {
	/** The topic that says whether the gateway is online. */
	readonly gatewayTopic: string;
	readonly #client: MqttClient;
	/** Messages by topic. An empty one makes the broker forget the topic. */
	readonly #retained = new Map<string, string>();

	/** @param onCommand called with each command, at most one in a turn of the event loop */
	constructor(gateway: RunningGateway, url: string, onCommand: (topic: string, payload: Buffer) => void) {
		const { log, limitedLog } = gateway;
		const { homeAssistantPassword: password, homeAssistantCa: ca } = gateway.settings;
		const warn = (details: object, message: string): void => limitedLog.warn("home-assistant", details, message);
		this.gatewayTopic = gatewayTopic(gateway.key.derive("home-assistant").slice(0, 16));
		const client = mqtt.connect(url, {
			...(password !== undefined && { password }),
			...(ca !== undefined && { ca: readPem("homeAssistantCa", ca) }),
			clean: true,
			reconnectPeriod: RECONNECT_PERIOD,
			reconnectOnConnackError: true,
			resubscribe: false,
			queueQoSZero: false,
			will: { topic: this.gatewayTopic, payload: Buffer.from("offline"), qos: 0, retain: true },
		});
		this.#client = client;
		let lastProblem = "";
		client.on("connect", () => {
			lastProblem = "";
			log.info("connected to Home Assistant's broker");
			client.subscribe(ALL_COMMANDS, { qos: 1 });
			this.#retained.forEach((text, topic) => void this.#publish(topic, text));
		});
		// Once for each outage, not for each attempt.
		client.on("error", ({ message }) => {
			if (message !== lastProblem) {
				warn({}, `Home Assistant's broker: ${message}`);
			}
			lastProblem = message;
		});
		client.handleMessage = ({ topic, payload, retain }, done) => {
			if (retain) {
				// It would be obeyed again after each connection.
				warn({ topic }, "Home Assistant: retained command rejected");
			} else {
				onCommand(topic, Buffer.from(payload));
			}
			setImmediate(done);
		};
		this.retain(this.gatewayTopic, "online");
	}

	/** Makes the broker retain a message, instead of the previous one. */
	retain(topic: string, text: string): void {
		if (this.#retained.get(topic) !== text) {
			this.#retained.set(topic, text);
			this.#publish(topic, text);
		}
	}

	/** Makes the broker forget the message of a topic. */
	forget(topic: string): void {
		this.retain(topic, "");
	}

	/** Home Assistant shows every device of the gateway as unavailable from now on. */
	async close(): Promise<void> {
		this.#publish(this.gatewayTopic, "offline");
		await this.#client.endAsync(!this.#client.connected);
	}

	/** Messages that cannot be sent now are sent after the next connection. */
	#publish(topic: string, text: string): void {
		if (this.#client.connected) {
			this.#client.publish(topic, text, { retain: true });
			if (text === "") {
				this.#retained.delete(topic);
			}
		}
	}
}
