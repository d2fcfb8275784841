import type { IncomingMessage, RequestListener } from "node:http";
import type { TLSSocket, TlsOptions } from "node:tls";
import type { ServerIdentity } from "xs-mcp-manager/core";
import { deviceIdOf, type TokenRecord } from "../config/access.js";
import { isLoopback, outsideUrlAt } from "../config/listen-address.js";
import type { Configuration } from "../config/settings.js";
import type { TokenStore } from "../config/token-store.js";
import type { FontBundle } from "./font-bundle.js";

/** A device's credentials. */
export interface DeviceCredentials {
	/** The id that it claims. */
	readonly deviceId: string;
	/** WebSocket: the bearer token. MQTT: the password. Empty if absent. */
	readonly secret: string;
	/** MQTT: the user name. */
	readonly username?: string;
}

/** Why a device's connection was admitted. */
export interface Admission {
	/** Its token, and the id that it claims; absent if none is required. */
	readonly token?: TokenRecord;
	readonly deviceId?: string;
}

/**
 * Decides whether a device is admitted. If not, returns the reason for the log: "unknown token", never the secret. Must not
 * throw.
 */
export type AuthenticateDevice = (credentials: DeviceCredentials) => Admission | string;

/** An address at which devices connect: by WebSocket, or at the gateway's own broker. */
export interface DeviceListenerOptions {
	/** Address to listen on. Default: loopback. */
	readonly host?: string;
	/** 0 for a free one. */
	readonly port: number;
	/** Which devices are admitted. Default: every device. */
	readonly authenticate?: AuthenticateDevice;
	/** Key and certificate: devices then connect by TLS. */
	readonly tls?: TlsOptions;
	/** Glyphs for the screens of other firmware. */
	readonly fonts?: FontBundle | undefined;
	/** WebSocket: further hostnames of sites whose pages may connect as devices. */
	readonly allowedOrigins?: readonly string[];
	/** WebSocket: answers HTTP requests that do not open one. Default: status 426. */
	readonly onRequest?: RequestListener;
	/** WebSocket: milliseconds between pings, which keep quiet sessions alive and find dead ones. Default 30,000. */
	readonly pingInterval?: number;
}

/** Admits every device. */
export const admitAll: AuthenticateDevice = () => ({});

/** Decides by tokens which devices are admitted at one address. */
export type DeviceGuard = ReturnType<typeof makeDeviceGuard>;

/**
 * Makes the guard of an address.
 *
 * @param address where the gateway listens for devices. Beyond loopback every device needs a token.
 * @param always whether every device needs one there, too
 */
export function makeDeviceGuard(address: string, tokens: TokenStore, always: boolean) {
	/** Whether devices need a token: beyond loopback always, else as soon as there is one. */
	const needsToken = (): boolean => always || !isLoopback(address) || tokens.needs("device");
	const authenticate: AuthenticateDevice = ({ deviceId, secret }) => {
		if (!needsToken()) {
			return {};
		}
		if (secret === "") {
			return "no token";
		}
		const token = tokens.verify("device", secret);
		if (token === undefined) {
			return "unknown token";
		}
		return isFor(token, deviceId) ? { token, deviceId } : "token of another device";
	};
	return {
		needsToken,
		authenticate,
		/** Whether an admitted connection would still be admitted, because tokens change. */
		stillAdmits: ({ token, deviceId = "" }: Admission): boolean =>
			token === undefined ? !needsToken() : isFor(tokens.current(token.sha256), deviceId),
	};
}

function isFor(token: TokenRecord | undefined, deviceId: string): boolean {
	return token !== undefined && token.devices?.includes(deviceIdOf(deviceId)) !== false;
}

const PAGE_URL = /^http:\/\/127\.0\.0\.1:\d{1,5}\/$/;

/** Reads a device's claims in the request that opens its WebSocket. Missing ones are empty. */
export function introductionOf({ headers, url = "", socket }: IncomingMessage) {
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
		/** Its bearer token. */
		secret,
		/** Whether this may be a page in a browser: its id is in the query, because it cannot set headers. */
		isPage,
		/** How it frames audio: 1, 2 or 3. */
		frameVersion,
		/** The page of a virtual device on this computer. */
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
	{ publicUrl, httpAddress, mqtt, mqttAddress, brokerUrl }: Configuration,
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
