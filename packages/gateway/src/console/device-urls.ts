import { outsideUrlAt } from "../config/listen-address.js";
import type { Configuration } from "../config/settings.js";
import { BOOTSTRAP_PATHS } from "../devices/bootstrap/bootstrap-answer.js";
import type { ConsoleSessionInfo } from "./messages.js";

type Urls = ConsoleSessionInfo["urls"];

/**
 * The URLs that a person gives to a device: as other machines reach the gateway, where it listens for them, or as the settings say
 * for a reverse proxy.
 *
 * @param urls where the gateway listens
 */
export function urlsForDevices(urls: Urls, configuration: Configuration): Urls {
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
