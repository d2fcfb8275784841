import type { ServerResponse } from "node:http";

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

/** The error of a JSON-RPC response. */
export interface RpcError {
	readonly code: number;
	readonly message: string;
	readonly data?: unknown;
}

/** A JSON-RPC error without an id: the body that Streamable HTTP has for a request that is rejected. */
export function jsonRpcError(code: number, message: string): object {
	return { jsonrpc: "2.0", error: { code, message }, id: null };
}

/** Rejects a request with a JSON-RPC error. */
export function sendJsonRpcError(response: ServerResponse, status: number, code: number, message: string): void {
	sendRpcError(response, status, { code, message });
}

/**
 * Rejects a request with a JSON-RPC error that may have data.
 *
 * @param id of the request
 */
export function sendRpcError(response: ServerResponse, status: number, error: RpcError, id?: unknown): void {
	const { code, message, data } = error;
	const known = typeof id === "string" || typeof id === "number" ? id : null;
	response.writeHead(status, { "Content-Type": "application/json" });
	response.end(JSON.stringify({ jsonrpc: "2.0", error: { code, message, data }, id: known }));
}
