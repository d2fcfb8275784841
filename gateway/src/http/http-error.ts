/** Why a request was refused, in logs and as a label of metrics: keep the number of them small. */
export type RefusalReason =
	| "host"
	| "origin"
	| "token"
	| "rate"
	| "too-large"
	| "slow"
	| "malformed"
	| "not-json"
	| "not-found"
	| "method"
	| "busy";

/** A request of a host's is not served. */
export class RequestRefusal extends Error {
	readonly status: number;
	readonly reason: RefusalReason;
	readonly headers: Readonly<Record<string, string>>;

	/** @param message goes to the client */
	constructor(status: number, reason: RefusalReason, message: string, headers: Readonly<Record<string, string>> = {}) {
		super(message);
		this.status = status;
		this.reason = reason;
		this.headers = headers;
	}
}
