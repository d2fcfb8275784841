import { z } from "zod";
import { HOST_SERVER, LISTED_SERVER, OPTIONS } from "./server-config.js";

/** The schema of a servers file. */
const FILE = z.object({
	version: z.string().optional(),
	servers: z.union([z.array(LISTED_SERVER), z.record(z.string(), HOST_SERVER)]).optional(),
	mcpServers: z
		.record(z.string(), HOST_SERVER)
		.optional()
		.describe("Servers by id, as hosts of MCP clients write them"),
	options: OPTIONS.optional().describe("What applies to servers that say nothing else"),
});

/** The JSON Schema of a file of servers, for editors: mcp-servers.schema.json. */
export function serversSchema(): object {
	return { title: "MCP servers of xs-mcp-gateway", ...z.toJSONSchema(FILE, { io: "input" }) };
}
