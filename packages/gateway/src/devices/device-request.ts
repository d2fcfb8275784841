import type { IncomingMessage } from "node:http";
import type { TLSSocket } from "node:tls";
import type { ServerIdentity } from "xs-mcp-manager/core";
import { isLoopback, outsideUrlAt } from "../config/listen-address.js";
import { deviceIdOf } from "../config/scopes.js";
import type { Configuration } from "../config/settings.js";

/** A device's claims in the request that opens its WebSocket. Missing ones are empty. */
interface Introduction {
	readonly deviceId: string;
	readonly clientId: string;
	/** Its bearer token. */
	readonly secret: string;
	/** Whether this may be a page in a browser: its id is in the query, because it cannot set headers. */
	readonly isPage: boolean;
	/** How it frames audio: 1, 2 or 3. */
	readonly frameVersion: number;
	/** The page of a virtual device on this computer. */
	readonly pageUrl?: string;
}

const PAGE_URL = /^http:\/\/127\.0\.0\.1:\d{1,5}\/$/;

export function introductionOf({ headers, url = "", socket }: IncomingMessage): Introduction {
	const isPage = headers["device-id"] === undefined;
	const query = new URLSearchParams(url.slice(url.indexOf("?") + 1));
	const read = (name: string): string => String((isPage ? query.get(name) : headers[name]) ?? "");
	const secret = /^Bearer (.+)$/i.exec(read("authorization"))?.[1] ?? "";
	const frameVersion = Number(headers["protocol-version"] ?? 1);
	const pageUrl = String(headers["page-url"] ?? "");
	const isHere = isLoopback(socket.remoteAddress ?? "") && PAGE_URL.test(pageUrl);
	return {
		deviceId: deviceIdOf(read("device-id")),
		clientId: read("client-id"),
		secret,
		isPage,
		frameVersion,
		...(isHere && { pageUrl }),
	};
}

/** A host and perhaps a port, as in the Host header. */
const HOST = /^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?$/;

/**
 * URL of this server for a device, without a path: the address that it connected to. Clients on chips omit the
 * port in the Host header: then it is this server's port. Undefined if the header is malformed.
 */
export function serverUrlOf({ headers: { host = "" }, socket }: IncomingMessage): string | undefined {
	const match = host.length <= 260 ? HOST.exec(host) : null;
	if (match === null) {
		return undefined;
	}
	const scheme = (socket as TLSSocket).encrypted ? "https" : "http";
	return `${scheme}://${host}${match[1] === undefined ? `:${socket.localPort}` : ""}`;
}

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
