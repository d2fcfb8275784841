// An MCP server in a project of its own: docs/embed.md. What it needs of its transport is a function that sends a text.
import { McpServer } from "../../src/mcp_server/mcp-server.js";
import type { McpSession } from "../../src/mcp_server/mcp-session.js";
import { integer } from "../../src/mcp_server/schema.js";
import { createTool } from "../../src/mcp_server/tool.js";

const setTarget = createTool({
	name: "set_target",
	description: "Set the temperature that the heating keeps.",
	input: { celsius: integer({ minimum: 5, maximum: 30 }) },
	run({ celsius }, room: { target: number }) {
		room.target = celsius;
		return true;
	},
});

export function openSession(send: (text: string) => void): McpSession<{ target: number }> {
	const server = new McpServer({ name: "thermostat", version: "1.0.0", context: { target: 20 }, tools: [setTarget] });
	return server.open({ send: (text) => send(String(text)) });
}
