import type { Server } from "../core/server.js";
import type { ConfiguredServer } from "../upstreams/configured-server.js";
import type { McpConnection } from "./mcp-types.js";

/** How a configured server is listed. */
export function connectionOf({ config, transport, status, server, lastError }: ConfiguredServer): McpConnection {
	const { id, shown: url } = config;
	return { id, url, transport, status, tools: server?.tools.length ?? 0, serverInfo: server?.board, lastError };
}

/** How a device is listed. */
export function deviceConnectionOf({ alias, session, online, tools, board }: Server): McpConnection {
	const transport = session?.identity.transport ?? "device";
	const status = online ? "connected" : "disconnected";
	return { id: alias, url: transport, transport, status, tools: tools.length, serverInfo: board, lastError: "" };
}
