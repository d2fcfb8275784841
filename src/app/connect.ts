import { MqttProtocol } from "../protocols/mqtt_protocol.js";
import type { MqttRecord } from "../protocols/mqtt-channel.js";
import type { Protocol, ProtocolOptions } from "../protocols/protocol.js";
import { WebSocketProtocol } from "../protocols/websocket_protocol.js";
import type { WebSocketRecord } from "../protocols/websocket-channel.js";
import type { Config } from "./config.js";

/** ECMA-419's records for the network clients that a host has. */
export interface NetworkClients {
	readonly ws?: WebSocketRecord;
	readonly wss?: WebSocketRecord;
	readonly mqtt?: MqttRecord;
	readonly mqtts?: MqttRecord;
}

export interface ConnectOptions extends ProtocolOptions {
	readonly config: Config;
	readonly network: NetworkClients;
	/** The device's MAC address, lower case, with colons. */
	readonly deviceId: string;
	/** The device's UUID. */
	readonly uuid: string;
}

/**
 * The protocol that the backend's URL asks for.
 *
 * @throws ProtocolError "bad-config" that names the setting
 */
export function createProtocol({ config, network, deviceId, uuid, ...options }: ConnectOptions): Protocol {
	if (config.backend.startsWith("mqtt")) {
		return new MqttProtocol({
			...options,
			...config,
			url: config.backend,
			username: config.mqttUsername,
			password: config.mqttPassword,
			keepAlive: config.keepAlive * 1000,
			network,
		});
	}
	return new WebSocketProtocol({ ...options, ...config, url: config.backend, deviceId, clientId: uuid, network });
}
