import type { TestContext } from "node:test";
import { initialized, serveResults } from "xs-mcp-manager/testing/upstreams";

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
export function startDeepServer(t: TestContext, carriedOut: (text: string) => void): Promise<string> {
	return serveResults(t, ({ id, method, params }, response) => {
		response.on("error", () => {});
		if (method === "initialize") {
			return initialized("2025-11-25", "deep");
		}
		if (method === "tools/call") {
			const { text } = params.arguments;
			carriedOut(text);
			response.writeHead(200, { "Content-Type": "application/json" });
			response.end(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${RESULTS[params.name]?.(text)}}`);
			return undefined;
		}
		return method === "tools/list" ? { tools: TOOLS } : {};
	});
}
