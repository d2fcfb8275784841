import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { TestContext } from "node:test";
import { listen } from "../../host-test/support/listen.js";

/** JSON of a structure that JavaScript's own functions may not be able to go through. */
export const DEEP_JSON = `{"deep":${"[".repeat(5_000)}${"]".repeat(5_000)}}`;

const BIG = "x".repeat(4_000_000);

const inputSchema = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
const TOOLS = ["echo", "deep", "big"].map((name) => ({ name, description: "Answers.", inputSchema }));

const RESULTS: Readonly<Record<string, (text: string) => string>> = {
	echo: (text) => JSON.stringify({ content: [{ type: "text", text }] }),
	deep: () => `{"content":[{"type":"text","text":"deep"}],"structuredContent":${DEEP_JSON}}`,
	big: () => JSON.stringify({ content: [{ type: "text", text: BIG }] }),
};

/** An MCP server of 2025-11-25 over Streamable HTTP, without sessions, and closed with its test. Resolves with its URL. */
export async function startDeepServer(t: TestContext, carriedOut: (text: string) => void): Promise<string> {
	const server = createServer((request, response) => void serve(request, response, carriedOut));
	return `http://127.0.0.1:${await listen(t, server)}/mcp`;
}

async function serve(request: IncomingMessage, response: ServerResponse, carriedOut: (text: string) => void) {
	response.on("error", () => {});
	if (request.method !== "POST") {
		response.writeHead(405).end();
		return;
	}
	let body = "";
	try {
		for await (const chunk of request.setEncoding("utf8")) {
			body += chunk;
		}
	} catch {
		// The gateway was killed.
		return;
	}
	const { id, method, params } = JSON.parse(body);
	if (id === undefined) {
		response.writeHead(202).end();
		return;
	}
	const outcome = outcomeOf(method, params, carriedOut);
	response.writeHead(200, { "Content-Type": "application/json" });
	response.end(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},${outcome}}`);
}

/** @returns the member `result` or `error` of a response */
// biome-ignore lint/suspicious/noExplicitAny: whatever the gateway sends.
function outcomeOf(method: string, params: any, carriedOut: (text: string) => void): string {
	if (method === "initialize") {
		const serverInfo = { name: "deep", version: "1.0.0" };
		return `"result":${JSON.stringify({ protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo })}`;
	}
	if (method === "tools/list") {
		return `"result":${JSON.stringify({ tools: TOOLS })}`;
	}
	if (method === "tools/call") {
		const { text } = params.arguments;
		carriedOut(text);
		return `"result":${RESULTS[params.name]?.(text)}`;
	}
	return method === "ping" ? '"result":{}' : '"error":{"code":-32601,"message":"Method not found"}';
}
