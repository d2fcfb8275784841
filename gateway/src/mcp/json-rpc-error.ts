import type { ServerResponse } from "node:http";

/** Codes of JSON-RPC 2.0 §5.1: what is not JSON, and an error of the server's own, as the SDK uses them for HTTP errors. */
export const PARSE_ERROR = -32_700;
export const SERVER_ERROR = -32_000;

/** A JSON-RPC error without an id: the body that Streamable HTTP has for a request that is rejected. */
export function jsonRpcError(code: number, message: string): object {
	return { jsonrpc: "2.0", error: { code, message }, id: null };
}

/** Rejects a request with a JSON-RPC error. */
export function sendJsonRpcError(response: ServerResponse, status: number, code: number, message: string): void {
	response.writeHead(status, { "Content-Type": "application/json" });
	response.end(JSON.stringify(jsonRpcError(code, message)));
}
