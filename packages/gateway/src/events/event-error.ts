import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";

/** Codes of SEP-3415, "Error Codes". */
const CODES = {
	notFound: -32023,
	forbidden: -32024,
	exhausted: -32025,
	unsupported: -32026,
	callback: -32027,
} as const;

export function invalid(message: string): ProtocolError {
	return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}

/** Returns the error for an event type that does not exist. */
export function unknownEvent(name: string): ProtocolError {
	return new ProtocolError(CODES.notFound, `Unknown event: ${name}`, { kind: "event" });
}

/** Returns the error for a request that the client may not make. */
export function forbidden(message: string): ProtocolError {
	return new ProtocolError(CODES.forbidden, message);
}

/** Returns the error for a limit that is reached. */
export function exhausted(limit: string, max: number): ProtocolError {
	return new ProtocolError(CODES.exhausted, `too many ${limit} (limit ${max})`, { limit, max });
}

/** Returns the error for a way of delivery that is not offered. */
export function unsupported(mode: string): ProtocolError {
	const message = `delivery.mode: ${mode} is not supported`;
	return new ProtocolError(CODES.unsupported, message, { feature: "deliveryMode", value: mode });
}

/** Reason why a callback cannot be used. Nothing of its answer is told. */
export type CallbackProblem =
	| "connection_refused"
	| "timeout"
	| "tls_error"
	| "http_4xx"
	| "http_5xx"
	| "challenge_failed";

/** Returns the error for an endpoint that failed its verification. */
export function callbackFailed(reason: CallbackProblem): ProtocolError {
	return new ProtocolError(CODES.callback, `delivery.url: ${reason}`, { reason });
}
