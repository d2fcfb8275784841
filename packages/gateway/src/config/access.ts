import type { Limits } from "./scopes.js";
import type { TokenRecord } from "./token-record.js";

/** The access of an authenticated client. The guard keeps one object per token record. */
export interface Access {
	/** The token's name, or "local". For logs, and so that only the principal that opened a session can use it. */
	readonly principal: string;
	/** Which token: its hash, since another may get the same name. Absent without a token. */
	readonly holder?: string;
	/** Ids of the devices that it may reach; absent: every device. */
	readonly devices?: ReadonlySet<string>;
	/** Whether it sees and calls user-only tools; or the ids of the devices for which it does. */
	readonly userTools: boolean | ReadonlySet<string>;
	/** Whether it listens with the microphones of devices, if the gateway allows that at all. */
	readonly microphone?: boolean;
	/** Whether it only reads: it sees and calls tools that are known to be read-only, and changes nothing. */
	readonly readOnly?: boolean;
	/** Whether a page of another origin calls: it does not get the gateway's own tools. */
	readonly isForeignPage?: boolean;
}

/** Whether a client may reach the device with this id. */
export function reaches({ devices }: Access, id: string): boolean {
	return devices === undefined || devices.has(id);
}

/** Whether a client sees and calls the user-only tools of the device with this id. */
export function hasUserTools({ userTools }: Access, id: string): boolean {
	return userTools === true || (userTools !== false && userTools.has(id));
}

/** Whether a client may listen with the microphones of the devices that it reaches. */
export function mayListen({ microphone, readOnly, isForeignPage }: Access): boolean {
	return microphone === true && readOnly !== true && isForeignPage !== true;
}

/** The grant of an access token. */
export interface AccessGrant {
	/** Owner, for logs, limits and sessions. It has a colon, unlike the names that operators give to tokens. */
	readonly principal: string;
	/** Undefined if its scopes allow nothing. */
	readonly limits: Limits | undefined;
	/** The resources that it is for, as `ProtectedResource.identify` spells them. */
	readonly audience: readonly string[];
	/** Its record, if the gateway issued it. */
	readonly token?: TokenRecord;
	/** Whether it has neither expired nor been revoked. */
	readonly isCurrent: () => boolean;
}

/** Issuer of access tokens: the gateway, or an external one. */
export interface TokenIssuer {
	/**
	 * Verifies an access token. Rejects with HttpError (503) if that is impossible now.
	 *
	 * @returns undefined if it is not a token of this issuer, "expired" if it was one
	 */
	verify(token: string): Promise<AccessGrant | "expired" | undefined>;
}
