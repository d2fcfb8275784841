import {
	definePlugin,
	FILE,
	FOLDER,
	flag,
	inGroup,
	LOOPBACK,
	PASSWORD,
	PORT,
	requiring,
	setting,
	text,
	url,
} from "../plugin.js";
import type { DeviceGuard } from "./admission.js";

/** An address at which the gateway listens for devices. */
export interface DeviceListener {
	/** "ws", "wss", "mqtt" or "mqtts" */
	readonly scheme: string;
	readonly address: string;
	readonly port: number;
}

export interface DevicePorts {
	/** Which devices are admitted, at each port. */
	readonly guards: readonly DeviceGuard[];
	/** The addresses that devices connect to. */
	readonly listeners: { websocket?: DeviceListener; mqtt?: DeviceListener };
}

/** Accepts devices over WebSocket, at the gateway's own MQTT broker or another one, and announces that on the local network. */
export const devices = definePlugin({
	name: "devices",
	settings: {
		...inGroup("Devices over WebSocket", {
			websocket: setting(flag, "Accept devices over WebSocket", true),
			websocketAddress: setting(text("address"), "Listen address", LOOPBACK),
			websocketPort: setting(PORT, "Port; 0 for a free one", 8765),
			websocketCert: requiring(["websocketKey"], setting(FILE, "TLS certificate (PEM)")),
			websocketKey: requiring(["websocketCert"], setting(FILE, "Private key (PEM) of websocketCert")),
		}),
		...inGroup("Devices over MQTT", {
			mqtt: setting(flag, "Accept devices over MQTT, with the gateway's own broker", false),
			mqttAddress: requiring(["mqtt"], setting(text("address"), "Listen address of the gateway's broker", LOOPBACK)),
			mqttPort: requiring(["mqtt"], setting(PORT, "Port of the gateway's broker; 0 for a free one", 1883)),
			mqttCert: requiring(["mqtt", "mqttKey"], setting(FILE, "TLS certificate (PEM) of the gateway's broker")),
			mqttKey: requiring(["mqtt", "mqttCert"], setting(FILE, "Private key (PEM) of mqttCert")),
			udpAddress: setting(text("address"), "Listen address for audio over UDP; default: mqttAddress"),
			udpPort: setting(PORT, "Port for audio over UDP; 0 for a free one", 1884),
			udpEndpoint: setting(text("host:port"), "UDP host and port sent to devices; required behind NAT"),
			brokerUrl: setting(url(["mqtt:", "mqtts:"]), "URL of another MQTT broker for devices"),
			brokerUsername: requiring(["brokerUrl"], setting(text("name"), "User name for brokerUrl")),
			brokerPassword: setting(PASSWORD, "Password for brokerUrl"),
			brokerCa: setting(FILE, "CA certificates (PEM) for brokerUrl"),
			mcpOverMqtt: requiring(["brokerUrl"], setting(flag, "Use the servers of MCP over MQTT at brokerUrl", false)),
		}),
		...inGroup("How devices find the gateway", {
			announce: setting(flag, "Announce the gateway on the local network (DNS-SD)", true),
		}),
		...inGroup("Photos and pictures", {
			fontFolder: setting(
				FOLDER,
				"Folder of the family's full font bundle (manifest.json, CBIN files), for screens of other firmware",
			),
		}),
	},
	setup: async (gateway): Promise<DevicePorts> => {
		const { openPorts } = await import("./ports.js");
		return openPorts(gateway);
	},
});
