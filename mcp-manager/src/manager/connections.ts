import type { ServerTool } from "../core/offers.js";
import { isUserOnly, type Server } from "../core/server.js";
import type { ConfiguredServer } from "../upstreams/configured-server.js";
import type { McpConnection } from "./mcp-types.js";

/** How a configured server is listed. */
export function connectionOf({ config, transport, status, server, lastError }: ConfiguredServer): McpConnection {
	const { id, shown: url } = config;
	const { tools = [], board: serverInfo, listProblems: problems = [] } = server ?? {};
	return { id, url, transport, status, tools: countOf(tools), serverInfo, lastError, problems };
}

/** How a device is listed. */
export function deviceConnectionOf({ alias, session, online, tools, board, listProblems }: Server): McpConnection {
	const transport = session?.identity.transport ?? "device";
	const status = online ? "connected" : "disconnected";
	const problems = listProblems;
	return {
		id: alias,
		url: transport,
		transport,
		status,
		tools: countOf(tools),
		serverInfo: board,
		lastError: "",
		problems,
	};
}

/** The tools that `mcp_list_tools` lists, too. */
function countOf(tools: readonly ServerTool[]): number {
	return tools.filter((tool) => !isUserOnly(tool)).length;
}
