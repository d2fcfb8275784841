import type { ServerResponse } from "node:http";

/** A JSON-RPC error without an id: the body that Streamable HTTP has for a request that is rejected. */
export function jsonRpcError(code: number, message: string): object {
	return { jsonrpc: "2.0", error: { code, message }, id: null };
}

/** Rejects a request with a JSON-RPC error. */
export function sendJsonRpcError(response: ServerResponse, status: number, code: number, message: string): void {
	response.writeHead(status, { "Content-Type": "application/json" });
	response.end(JSON.stringify(jsonRpcError(code, message)));
}
