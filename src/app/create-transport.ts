import type { MqttRecord } from "../mqtt/mqtt-channel.js";
import type { ChannelLimits, ChannelOptions } from "../protocols/queued-channel.js";
import type { Transport } from "../protocols/transport.js";
import type { WebSocketRecord } from "../protocols/websocket-channel.js";
import { WebSocketTransport } from "../protocols/websocket-transport.js";
import type { Config } from "../settings/config.js";
import { SettingError } from "../settings/setting-error.js";
import type { OpenUdp } from "../voice/udp-audio.js";
import type { Addons } from "./addons.js";

/** ECMA-419's records for the network clients that a platform has. */
export interface NetworkClients {
	readonly ws?: WebSocketRecord;
	readonly wss?: WebSocketRecord;
	readonly mqtt?: MqttRecord;
	readonly mqtts?: MqttRecord;
	/** Audio of backends over MQTT. */
	readonly openUdp?: OpenUdp;
}

interface TransportOptions extends Pick<ChannelOptions, "log"> {
	readonly config: Config;
	readonly network: NetworkClients;
	/** The device's MAC address, lower case, with colons. */
	readonly deviceId: string;
	/** The device's UUID. */
	readonly uuid: string;
	/** Undefined if the build has no MQTT. */
	readonly mqtt: Addons["mqtt"] | undefined;
}

/**
 * The transport for the scheme of the backend's URL.
 *
 * @throws SettingError
 */
export const createTransport = ({ config, network, deviceId, uuid, mqtt, ...options }: TransportOptions): Transport => {
	const limits = messageLimits(config.chunkBytes);
	if (/^mqtts?:/i.test(config.backend)) {
		if (mqtt === undefined) {
			throw new SettingError("backend", "this build has no MQTT");
		}
		return mqtt({
			...options,
			...limits,
			...config,
			url: config.backend,
			username: config.mqttUsername,
			password: config.mqttPassword,
			keepAlive: config.keepAlive * 1000,
			network,
		});
	}
	return new WebSocketTransport({
		...options,
		...limits,
		url: config.backend,
		token: config.token,
		protocolVersion: config.protocolVersion,
		deviceId,
		clientId: uuid,
		network,
	});
};

/**
 * The share of the heap that messages may take. At its peak the longest message is held about five times over: as
 * bytes, as text, as what was parsed of it, and as an answer that quotes it, once as text and once as bytes.
 */
export const messageLimits = (chunkBytes: number): { readonly [Limit in keyof ChannelLimits]-?: number } => ({
	maxMessageBytes: Math.floor(chunkBytes / 8),
	maxQueuedBytes: Math.floor(chunkBytes / 4),
});
