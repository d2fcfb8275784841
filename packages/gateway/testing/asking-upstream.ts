// An MCP server of 2025-11-25 over Streamable HTTP whose tool "ask" asks the client what its arguments say.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { TestContext } from "node:test";
import { NodeStreamableHTTPServerTransport } from "@modelcontextprotocol/node";
import { type CallToolResult, Server } from "@modelcontextprotocol/server";
import { listen } from "../../../host-test/support/testing.js";

interface Asked {
	readonly method: "elicitation/create" | "sampling/createMessage" | "roots/list";
	readonly params?: Record<string, unknown>;
}

const text = (value: unknown): CallToolResult => ({ content: [{ type: "text", text: JSON.stringify(value) }] });

export async function startAskingUpstream(t: TestContext) {
	const transports = new Map<string, NodeStreamableHTTPServerTransport>();
	const errors: string[] = [];
	const told: { capabilities?: object | undefined } = {};
	const open = async () => {
		const server = new Server({ name: "asking", version: "1.0.0" }, { capabilities: { tools: {} } });
		server.oninitialized = () => {
			told.capabilities = server.getClientCapabilities();
		};
		server.setRequestHandler("tools/list", () => ({ tools: [{ name: "ask", inputSchema: { type: "object" } }] }));
		server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
			const { method, params: asked } = params.arguments as unknown as Asked;
			try {
				return text(await mcpReq.send({ method, ...(asked && { params: asked }) } as never));
			} catch (error) {
				errors.push((error as Error).message);
				return { ...text((error as Error).message), isError: true };
			}
		});
		const transport = new NodeStreamableHTTPServerTransport({
			sessionIdGenerator: randomUUID,
			onsessioninitialized: (id) => void transports.set(id, transport),
		});
		await server.connect(transport);
		return transport;
	};
	const httpServer = createServer(async (request, response) => {
		const known = transports.get(String(request.headers["mcp-session-id"]));
		await (known ?? (await open())).handleRequest(request, response);
	});
	return { url: `http://127.0.0.1:${await listen(t, httpServer)}/mcp`, errors, told };
}
