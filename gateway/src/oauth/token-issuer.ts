import type { AccessGrant } from "../config/access.js";

/** The issuer of access tokens cannot be asked now. */
export class IssuerUnavailable extends Error {
	override readonly name = "IssuerUnavailable";
}

/** Issuer of access tokens: the gateway, or an external one. */
export interface TokenIssuer {
	/**
	 * Verifies an access token. Rejects with IssuerUnavailable.
	 *
	 * @returns undefined if it is not a token of this issuer, "expired" if it was one
	 */
	verify(token: string): Promise<AccessGrant | "expired" | undefined>;
}
