import mqtt from "mqtt";
import { readPem } from "../config/listen-address.js";
import type { RunningGateway } from "../gateway.js";
import { ALL_COMMANDS, gatewayTopic } from "./discovery.js";

/** Retry interval for a broker that does not answer, ms. */
const RECONNECT_PERIOD = 2_000;

/** Home Assistant's broker. It retains messages: they are sent again after each connection. */
export type Broker = ReturnType<typeof connectBroker>;

/**
 * Connects to Home Assistant's broker, and keeps reconnecting.
 *
 * @param onCommand called with each command, at most one in a turn of the event loop
 */
export function connectBroker(
	{ log, limitedLog, settings, key }: RunningGateway,
	url: string,
	onCommand: (topic: string, payload: Buffer) => void,
) {
	const { homeAssistantPassword: password, homeAssistantCa: ca } = settings;
	const warn = (details: object, message: string): void => limitedLog.warn("home-assistant", details, message);
	const ownTopic = gatewayTopic(key.derive("home-assistant").slice(0, 16));
	/** Messages by topic. An empty one makes the broker forget the topic. */
	const retained = new Map<string, string>();
	const client = mqtt.connect(url, {
		...(password !== undefined && { password }),
		...(ca !== undefined && { ca: readPem("homeAssistantCa", ca) }),
		clean: true,
		reconnectPeriod: RECONNECT_PERIOD,
		reconnectOnConnackError: true,
		resubscribe: false,
		queueQoSZero: false,
		will: { topic: ownTopic, payload: Buffer.from("offline"), qos: 0, retain: true },
	});
	/** Messages that cannot be sent now are sent after the next connection. */
	const publish = (topic: string, text: string): void => {
		if (client.connected) {
			client.publish(topic, text, { retain: true });
			if (text === "") {
				retained.delete(topic);
			}
		}
	};
	/** Makes the broker retain a message, instead of the previous one. With an empty one it forgets the topic. */
	const retain = (topic: string, text: string): void => {
		if (retained.get(topic) !== text) {
			retained.set(topic, text);
			publish(topic, text);
		}
	};
	let lastProblem = "";
	client.on("connect", () => {
		lastProblem = "";
		log.info("connected to Home Assistant's broker");
		client.subscribe(ALL_COMMANDS, { qos: 1 });
		retained.forEach((text, topic) => void publish(topic, text));
	});
	// Once for each outage, not for each attempt.
	client.on("error", ({ message }) => {
		if (message !== lastProblem) {
			warn({}, `Home Assistant's broker: ${message}`);
		}
		lastProblem = message;
	});
	client.handleMessage = ({ topic, payload, retain: isRetained }, done) => {
		if (isRetained) {
			// It would be obeyed again after each connection.
			warn({ topic }, "Home Assistant: retained command rejected");
		} else {
			onCommand(topic, Buffer.from(payload));
		}
		setImmediate(done);
	};
	retain(ownTopic, "online");
	return {
		/** The topic that says whether the gateway is online. */
		gatewayTopic: ownTopic,
		retain,
		/** Marks every device of the gateway as unavailable in Home Assistant, and disconnects. */
		async close(): Promise<void> {
			publish(ownTopic, "offline");
			await client.endAsync(!client.connected);
		},
	};
}
