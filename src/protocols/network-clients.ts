import type { MqttRecord } from "./mqtt-channel.js";
import type { WebSocketRecord } from "./websocket-channel.js";

/** ECMA-419's records for the network clients that a platform has. */
export interface NetworkClients {
	readonly ws?: WebSocketRecord;
	readonly wss?: WebSocketRecord;
	readonly mqtt?: MqttRecord;
	readonly mqtts?: MqttRecord;
}
