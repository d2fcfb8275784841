import type { IncomingMessage } from "node:http";
import type { TLSSocket } from "node:tls";
import { deviceIdOf } from "../config/device-id.js";
import { isLoopback } from "../config/listen-address.js";

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
 * Where the device reaches this server, without a path: the address that it connected to. Clients on chips omit the
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
