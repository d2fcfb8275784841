import type { ServerIdentity } from "xs-mcp-manager/core";
import { isLoopback, outsideUrlAt } from "../config/listen-address.js";
import type { Configuration } from "../config/settings.js";

/**
 * The URL at which a device reaches the gateway over HTTP, without a path; undefined if unknown, or if the HTTP server
 * listens only for this machine and the device may be on another one.
 *
 * @param clientsUrl where the HTTP server listens
 */
export function urlForDevice(
	{ gatewayUrl }: Pick<ServerIdentity, "gatewayUrl">,
	{
		publicUrl,
		httpAddress,
		mqtt,
		mqttAddress,
		brokerUrl,
	}: Pick<Configuration, "publicUrl" | "httpAddress" | "mqtt" | "mqttAddress" | "brokerUrl">,
	clientsUrl: string,
): string | undefined {
	const known = publicUrl?.replace(/\/+$/, "") ?? gatewayUrl;
	if (known !== undefined) {
		return known;
	}
	// Over MQTT the address that a device connected to is unknown.
	const broker = brokerUrl === undefined ? [] : [new URL(brokerUrl).hostname.replace(/[[\]]/g, "")];
	const brokers = [...(mqtt ? [mqttAddress] : []), ...broker];
	if (isLoopback(httpAddress) && !brokers.every(isLoopback)) {
		return undefined;
	}
	const { protocol, port } = new URL(clientsUrl);
	const isTls = protocol === "https:";
	return outsideUrlAt(isTls ? "https" : "http", httpAddress, Number(port || (isTls ? 443 : 80)));
}
