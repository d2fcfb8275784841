import { McpServer } from "src/mcp_server/mcp-server";
import { integer } from "src/mcp_server/schema";
import { createTool } from "src/mcp_server/tool";

const setTarget = createTool({
	name: "set_target",
	description: "Set the temperature that the heating keeps. Returns the previous one.",
	input: { celsius: integer({ minimum: 5, maximum: 30 }) },
	run: ({ celsius }, room: { target: number }) => {
		const previous = room.target;
		room.target = celsius;
		return previous;
	},
});

/** One server for all clients: the room outlives their sessions. */
export default new McpServer({ name: "thermostat", version: "1.0.0", context: { target: 20 }, tools: [setTarget] });
