import type { TlsOptions } from "node:tls";
import { deviceIdOf } from "../config/device-id.js";
import { isLoopback } from "../config/listen-address.js";
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

/** The way by which devices connect: WebSocket, or the gateway's own broker. */
export interface DeviceListenerOptions {
	/** Address to listen on. Default: loopback. */
	readonly host?: string;
	/** 0 for a free one. */
	readonly port: number;
	/** Which devices are admitted. Default: every device. */
	readonly authenticate?: AuthenticateDevice;
	/** Key and certificate: devices then connect by TLS. */
	readonly tls?: TlsOptions;
}

/** Admits every device. */
export const admitAll: AuthenticateDevice = () => ({});

/** Decides by tokens which devices are admitted at one address. */
export class DeviceGuard {
	readonly #address: string;
	readonly #tokens: TokenStore;
	readonly #always: boolean;

	/**
	 * @param address where the gateway listens for devices. Beyond loopback every device needs a token.
	 * @param always whether every device needs one there, too
	 */
	constructor(address: string, tokens: TokenStore, always = false) {
		this.#address = address;
		this.#tokens = tokens;
		this.#always = always;
	}

	readonly authenticate: AuthenticateDevice = ({ deviceId, secret }) => {
		if (!this.needsToken) {
			return {};
		}
		if (secret === "") {
			return "no token";
		}
		const token = this.#tokens.verify("device", secret);
		if (token === undefined) {
			return "unknown token";
		}
		return token.devices?.includes(deviceIdOf(deviceId)) === false ? "token of another device" : { token };
	};

	/** Returns a check whether an admitted connection would still be admitted, because tokens change. */
	currentlyAdmits(): (admission: Admission) => boolean {
		const { needsToken } = this;
		return ({ token }) => (token === undefined ? !needsToken : this.#tokens.current(token.sha256) !== undefined);
	}

	/** Whether devices need a token: beyond loopback always, else as soon as there is one. */
	get needsToken(): boolean {
		return this.#always || !isLoopback(this.#address) || this.#tokens.needs("device");
	}
}
