import type { RequestListener } from "node:http";
import type { TlsOptions } from "node:tls";
import { isLoopback } from "../config/listen-address.js";
import { deviceIdOf } from "../config/scopes.js";
import type { TokenRecord } from "../config/token-record.js";
import type { TokenStore } from "../config/token-store.js";

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
	/** Its token; absent if none is required. */
	readonly token?: TokenRecord;
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
	/** WebSocket: hostnames of sites, besides this machine's, whose pages may connect as devices. */
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
		return token.devices?.includes(deviceIdOf(deviceId)) === false ? "token of another device" : { token };
	};
	return {
		needsToken,
		authenticate,
		/** Whether an admitted connection would still be admitted, because tokens change. */
		stillAdmits: ({ token }: Admission): boolean =>
			token === undefined ? !needsToken() : tokens.current(token.sha256) !== undefined,
	};
}
