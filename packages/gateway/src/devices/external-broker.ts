import mqtt, { type IClientOptions, type MqttClient } from "mqtt";
import { ALL_UP_TOPICS, clientIdOf, downTopic, type MqttBus, type MqttBusEvents } from "./mqtt-bus.js";

/** Retry interval for a broker that does not answer, ms. */
const RECONNECT_PERIOD = 1_000;

/**
 * Connects to another broker, and keeps reconnecting: the gateway is one of its clients, as the devices are. Rejects when the broker
 * rejects the gateway, or the first attempt fails.
 *
 * @param url mqtt://host[:port] or mqtts://…
 * @param access user name, password and certificates
 */
export async function connectBroker(url: string, access: IClientOptions, events: MqttBusEvents): Promise<MqttBus> {
	const always: IClientOptions = { clean: true, reconnectPeriod: RECONNECT_PERIOD, resubscribe: false };
	const client = await mqtt.connectAsync(url, { ...access, ...always }, false);
	client.on("close", () => events.onBrokerLost("the connection to the broker is lost"));
	reportOutages(client, (problem) => events.onRejected(`broker: ${problem}`));
	// Sessions are clean, so the subscription is renewed after each connection.
	client.on("connect", () => client.subscribe(ALL_UP_TOPICS, { qos: 1 }));
	await client.subscribeAsync(ALL_UP_TOPICS, { qos: 1 });
	// The caller has no bus before the next turn. Messages that come earlier are retained, or as lost as before the subscription.
	setImmediate(() => {
		client.handleMessage = ({ topic, payload }, done) => {
			const clientId = clientIdOf(topic);
			if (clientId !== undefined) {
				events.onMessage(clientId, payload.toString(), {});
			}
			// One message in a turn of the event loop: see DeviceConnection.
			setImmediate(done);
		};
	});
	return {
		send(clientId, text) {
			if (client.connected) {
				client.publish(downTopic(clientId), text);
			}
		},
		async close() {
			client.removeAllListeners("close");
			await client.endAsync();
		},
	};
}

/** Reports each error of a reconnecting client once per outage. */
export function reportOutages(client: MqttClient, report: (problem: string) => void): void {
	let last = "";
	client.on("connect", () => {
		last = "";
	});
	client.on("error", ({ message }) => {
		if (message !== last) {
			report(message);
		}
		last = message;
	});
}
