import type { Limits } from "../config/scopes.js";
import type { TokenRecord } from "../config/token-store.js";

/** What an access token allows. */
export interface AccessGrant {
	/** Whose it is, for logs, limits and sessions. No name that an operator gives to a token has a colon, this one has. */
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

/** The issuer of access tokens cannot be asked now. */
export class IssuerUnavailable extends Error {
	constructor(message: string, options?: { cause?: unknown }) {
		super(message, options);
		this.name = "IssuerUnavailable";
	}
}

/** Who issues access tokens: the gateway, or somebody outside. */
export interface TokenIssuer {
	/**
	 * Verifies an access token. Rejects with IssuerUnavailable.
	 *
	 * @returns undefined if it is not a token of this issuer, "expired" if it was one
	 */
	verify(token: string): Promise<AccessGrant | "expired" | undefined>;
}
