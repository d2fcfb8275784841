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

/** A JSON-RPC error without an id: the body that Streamable HTTP has for a request that is rejected. */
export function jsonRpcError(code: number, message: string): object {
	return { jsonrpc: "2.0", error: { code, message }, id: null };
}

/** A request over Streamable HTTP is rejected with a JSON-RPC error. */
export class RpcRejection extends Error {
	readonly status: number;
	readonly code: number;
	readonly data: unknown;
	/** The id of the request; null if the rejection is not for one request. */
	readonly id: string | number | null;
	readonly headers: Readonly<Record<string, string>>;

	constructor(
		status: number,
		code: number,
		message: string,
		{ id, data, headers = {} }: { id?: unknown; data?: unknown; headers?: Readonly<Record<string, string>> } = {},
	) {
		super(message);
		this.status = status;
		this.code = code;
		this.data = data;
		this.headers = headers;
		this.id = typeof id === "string" || typeof id === "number" ? id : null;
	}

	send(response: ServerResponse): void {
		const { status, code, message, data, id } = this;
		response.writeHead(status, { ...this.headers, "Content-Type": "application/json" });
		response.end(JSON.stringify({ jsonrpc: "2.0", error: { code, message, data }, id }));
	}
}
