import type { ServerResponse } from "node:http";

/** Answers a request that is not served, with a JSON-RPC error without an id as Streamable HTTP has it. */
export function refuse(response: ServerResponse, status: number, code: number, message: string): void {
	response.writeHead(status, { "Content-Type": "application/json" });
	response.end(JSON.stringify({ jsonrpc: "2.0", error: { code, message }, id: null }));
}
