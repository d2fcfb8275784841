import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";

/** Codes of SEP-3415, "Error Codes". */
const CODES = {
	notFound: -32011,
	forbidden: -32012,
	exhausted: -32013,
	unsupported: -32014,
	callback: -32015,
} as const;

export function invalid(message: string): ProtocolError {
	return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}

/** An event type or a subscription that does not exist. */
export function notFound(kind: "event" | "subscription", message: string): ProtocolError {
	return new ProtocolError(CODES.notFound, message, { kind });
}

/** The client may not do that. */
export function forbidden(message: string): ProtocolError {
	return new ProtocolError(CODES.forbidden, message);
}

/** A limit is reached. */
export function exhausted(limit: string, max: number): ProtocolError {
	return new ProtocolError(CODES.exhausted, `too many ${limit} (limit ${max})`, { limit, max });
}

/** A way of delivery that is not offered here. */
export function unsupported(mode: string): ProtocolError {
	const message = `delivery.mode: ${mode} is not supported`;
	return new ProtocolError(CODES.unsupported, message, { feature: "deliveryMode", value: mode });
}

/** Why a callback cannot be used: nothing of its answer is told. */
export type CallbackProblem =
	| "connection_refused"
	| "timeout"
	| "tls_error"
	| "http_4xx"
	| "http_5xx"
	| "challenge_failed";

/** The client's endpoint failed its verification. */
export function callbackFailed(reason: CallbackProblem): ProtocolError {
	return new ProtocolError(CODES.callback, `delivery.url: ${reason}`, { reason });
}
