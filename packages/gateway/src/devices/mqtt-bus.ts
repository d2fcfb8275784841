import type { Admission } from "./admission.js";

/** Events of a broker. At most one message arrives in a turn of the event loop: see DeviceConnection. */
export interface MqttBusEvents {
	/** A message of a device's, and why the device's connection was admitted. */
	onMessage(clientId: string, text: string, admission: Admission): void;
	/** A device has connected to the broker. Only the gateway's own broker knows. */
	onConnected(clientId: string, admission: Admission): void;
	/** A device's connection to the broker has ended. Only the gateway's own broker knows. */
	onDisconnected(clientId: string): void;
	/** The connection to the broker is lost, and with it every device. */
	onBrokerLost(reason: string): void;
	/** A connection or a message was rejected. */
	onRejected(description: string): void;
}

/** A way to devices over MQTT: the gateway's own broker, or another one, which itself decides which devices it admits. */
export interface MqttBus {
	send(clientId: string, text: string): void;
	/** Local address of a device's connection. Absent, or undefined, if that is unknown. */
	localAddressOf?(clientId: string): string | undefined;
	close(): Promise<void>;
}

/** The root of the topics between devices and gateway: nothing else may be published below it. */
export const TOPIC_ROOT = "xs-mcp/";

/** Every device's {@link upTopic}, as a subscription. */
export const ALL_UP_TOPICS = "xs-mcp/+/up";

/** The topic of a device's messages, unless its settings say otherwise. */
export function upTopic(clientId: string): string {
	return `xs-mcp/${clientId}/up`;
}

/** The topic of the gateway's messages to a device. */
export function downTopic(clientId: string): string {
	return `xs-mcp/${clientId}/down`;
}

/** The client id in an {@link upTopic}; undefined in any other topic. */
export function clientIdOf(topic: string): string | undefined {
	return /^xs-mcp\/([^/]+)\/up$/.exec(topic)?.[1];
}
