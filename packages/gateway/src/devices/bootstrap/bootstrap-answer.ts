import { isLoopback, outsideUrlAt } from "../../config/listen-address.js";
import type { Configuration } from "../../config/settings.js";
import type { GatewayUrls } from "../../gateway.js";
import { DOWNLOAD_PATH } from "../firmware/firmware-route.js";
import { downTopic, upTopic } from "../mqtt-bus.js";
import type { DeviceListener } from "../plugin.js";

/** The family's paths. */
export const BOOTSTRAP_PATHS = {
	ota: "/xiaozhi/ota",
	activate: "/xiaozhi/ota/activate",
	download: DOWNLOAD_PATH,
} as const;

/** The MQTT port for which other firmwares use TLS. */
const MQTTS_PORT = 8883;

/** The MQTT keep-alive in seconds: MQTT 3.1.1 §3.1.2.10. */
const KEEP_ALIVE = 60;

/** Some devices connect only with a password. */
const NO_PASSWORD = "none";

/** The addresses for devices: as configured, or those at which the gateway listens. Undefined: they cannot connect. */
type DeviceAddresses = { readonly [transport in "websocket" | "mqtt"]?: string | DeviceListener | undefined };

/**
 * Connection settings for a device.
 *
 * @param hostname the gateway's name as the device knows it, as in a URL
 * @param token absent if devices need none
 */
export function backendBlocks(
	{ websocket, mqtt }: DeviceAddresses,
	hostname: string,
	{ id, token }: { readonly id: string; readonly token: string | undefined },
): { websocket?: object; mqtt?: object } {
	const host = typeof websocket === "object" ? hostFor(websocket.address, hostname) : undefined;
	const url = typeof websocket === "object" ? host && `${websocket.scheme}://${host}:${websocket.port}/` : websocket;
	const endpoint = typeof mqtt === "string" ? mqtt : endpointFor(mqtt, hostname);
	return {
		...(endpoint !== undefined && {
			mqtt: {
				endpoint,
				client_id: id,
				username: id,
				password: token ?? NO_PASSWORD,
				publish_topic: upTopic(id),
				subscribe_topic: downTopic(id),
				keepalive: KEEP_ALIVE,
			},
		}),
		...(url !== undefined && { websocket: { url, token: token ?? "", version: 1 } }),
	};
}

/** Host and port; with the scheme only if the other firmwares would not use TLS at that port. */
function endpointFor(listener: DeviceListener | undefined, hostname: string): string | undefined {
	const host = listener && hostFor(listener.address, hostname);
	if (listener === undefined || host === undefined) {
		return undefined;
	}
	const { scheme, port } = listener;
	return scheme === "mqtts" && port !== MQTTS_PORT ? `mqtts://${host}:${port}` : `${host}:${port}`;
}

/** Undefined if only this machine can connect there, and the device is on another. */
function hostFor(address: string, hostname: string): string | undefined {
	if (address === "0.0.0.0" || address === "::") {
		return hostname;
	}
	if (isLoopback(address) && !isLoopback(hostname.replace(/^\[|\]$/g, ""))) {
		return undefined;
	}
	return address.includes(":") ? `[${address}]` : address;
}

/**
 * The URLs that a person gives to a device: as other machines reach the gateway, where it listens for them, or as the settings say
 * for a reverse proxy.
 *
 * @param urls where the gateway listens
 */
export function urlsForDevices(urls: GatewayUrls, configuration: Configuration): GatewayUrls {
	const { websocketAddress, mqttAddress, websocketUrl, publicUrl, bootstrap } = configuration;
	const websocket = websocketUrl ?? outside(urls.websocket, websocketAddress);
	const mqtt = outside(urls.mqtt, mqttAddress);
	// The bootstrap answers on the port of WebSockets, too, which is open to devices.
	const http = publicUrl?.replace(/\/+$/, "") ?? websocket?.replace(/^ws/, "http").replace(/\/+$/, "");
	return {
		...urls,
		...(websocket !== undefined && { websocket }),
		...(mqtt !== undefined && { mqtt }),
		...(bootstrap !== "closed" && http !== undefined && { bootstrap: `${http}${BOOTSTRAP_PATHS.ota}/` }),
	};
}

function outside(url: string | undefined, address: string): string | undefined {
	if (url === undefined) {
		return undefined;
	}
	const { protocol, port } = new URL(url);
	const base = outsideUrlAt(protocol.slice(0, -1), address, Number(port));
	return base === undefined ? url : `${base}${url.endsWith("/") ? "/" : ""}`;
}
