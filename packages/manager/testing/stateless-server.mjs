// An MCP server over stdio that has only 2026-07-28: the official SDK's.
import { Server } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

serveStdio(
	() => {
		const server = new Server({ name: "stateless", version: "1.0.0" }, { capabilities: { tools: {} } });
		server.setRequestHandler("tools/list", () => ({ tools: [{ name: "greet", inputSchema: { type: "object" } }] }));
		server.setRequestHandler("tools/call", () => ({ content: [{ type: "text", text: "hello" }] }));
		return server;
	},
	{ legacy: "reject" },
);
