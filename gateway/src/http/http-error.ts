/** Why a request was rejected, in logs and as a label of metrics: keep the number of them small. */
export type RejectionReason =
	| "host"
	| "origin"
	| "token"
	| "grant"
	| "rate"
	| "too-large"
	| "slow"
	| "malformed"
	| "not-json"
	| "not-found"
	| "method"
	| "unexpected"
	| "busy";

/** A client's request is rejected. */
export class HttpError extends Error {
	readonly status: number;
	readonly reason: RejectionReason;
	readonly headers: Readonly<Record<string, string>>;
	/** For the log alone. */
	readonly details: object = {};

	/** @param message goes to the client */
	constructor(
		status: number,
		reason: RejectionReason,
		message: string,
		headers: Readonly<Record<string, string>> = {},
	) {
		super(message);
		this.name = "HttpError";
		this.status = status;
		this.reason = reason;
		this.headers = headers;
	}
}
