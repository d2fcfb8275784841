import { OAuthErrorCode } from "@modelcontextprotocol/server";
import type { Failure } from "../http/rejections.js";
import { HttpError, type RejectionReason } from "../http/route.js";

/** An OAuth request is rejected, with a code of RFC 6749 section 5.2 and its extensions. */
export class OAuthFailure extends HttpError {
	readonly code: OAuthErrorCode;

	constructor(code: OAuthErrorCode, message: string, status = 400, reason: RejectionReason = "malformed") {
		super(status, reason, message);
		this.name = "OAuthFailure";
		this.code = code;
	}
}

/** Characters of a client's id in the log: one that is a URL may be long. */
const MAX_CLIENT = 200;

/** A code or refresh token gives no tokens. Only the log says why: the answer is the same for each reason. */
export class GrantFailure extends OAuthFailure {
	override readonly details: { readonly client: string; readonly why: string };

	/** @param clientId of the client that asked */
	constructor(clientId: string, why: string) {
		const message = "unknown, used or expired, or issued for another request";
		super(OAuthErrorCode.InvalidGrant, message, 400, "grant");
		this.details = { client: clientId.slice(0, MAX_CLIENT), why };
	}
}

const CODES: Readonly<Record<number, OAuthErrorCode>> = {
	429: OAuthErrorCode.TooManyRequests,
	503: OAuthErrorCode.TemporarilyUnavailable,
};

/** Makes the answer to a failure: RFC 6749 section 5.2. */
export const oauthBody = (failure: Failure): object => ({
	error: codeOf(failure),
	error_description: failure.message,
});

function codeOf(failure: Failure): OAuthErrorCode {
	if (failure instanceof OAuthFailure) {
		return failure.code;
	}
	const { status } = failure;
	return CODES[status] ?? (status >= 500 ? OAuthErrorCode.ServerError : OAuthErrorCode.InvalidRequest);
}

/** @throws OAuthFailure if a field is missing, empty or repeated */
export function field(fields: URLSearchParams, name: string): string {
	const value = optionalField(fields, name);
	if (value === undefined) {
		throw new OAuthFailure(OAuthErrorCode.InvalidRequest, `${name}: missing`);
	}
	return value;
}

/** A field of a request; undefined if it is missing or empty. @throws OAuthFailure if it is repeated: RFC 6749 section 3.1 */
export function optionalField(fields: URLSearchParams, name: string): string | undefined {
	const [value, ...more] = fields.getAll(name);
	if (more.length > 0) {
		throw new OAuthFailure(OAuthErrorCode.InvalidRequest, `${name}: given twice`);
	}
	return value || undefined;
}
