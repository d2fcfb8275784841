import type { ContentBlock, ReadResourceResult, Resource } from "@modelcontextprotocol/client";
import type { McpConnection, McpTool } from "./mcp-types.js";

/** "Available tools (3): a, b, c" names at most this many. */
const MAX_NAMED = 20;

const TRANSPORT_NAMES: Readonly<Record<string, string>> = { http: "HTTP", sse: "SSE", websocket: "WebSocket" };

/** The answer of `mcp_connect`. */
export function connectedText(connection: McpConnection, tools: readonly McpTool[], resources: number): string {
	const { id, url, transport, problems } = connection;
	const names = tools.slice(0, MAX_NAMED).map(({ name }) => name);
	const list = [...names, ...(tools.length > MAX_NAMED ? ["..."] : [])].join(", ");
	return [
		`Successfully connected to ${url}`,
		`Connection ID: ${id}`,
		`Transport: ${TRANSPORT_NAMES[transport] ?? transport}`,
		`Available tools (${tools.length})${list && `: ${list}`}`,
		`Available resources: ${resources}`,
		...problems.map((problem) => `Not available: ${problem}`),
	].join("\n");
}

/** The answer of `mcp_list_connections`. */
export function connectionsText(connections: readonly McpConnection[]): string {
	if (connections.length === 0) {
		return "No active MCP connections";
	}
	const lines = connections.map(({ id, url, status, tools, serverInfo, lastError, problems }) => {
		const info = serverInfo ? ` - ${serverInfo.name}/${serverInfo.version}` : "";
		return `- ${id}: ${url} [${status}] (${tools} tools)${info}${lastError && `: ${lastError}`}${problems.map((problem) => `; ${problem}`).join("")}`;
	});
	return [`Active MCP Connections (${connections.length}):`, ...lines].join("\n");
}

/**
 * The answer of `mcp_list_tools`: the first line of each description, and the schema of the arguments. Some models see
 * no more.
 */
export function toolsText(server: string, tools: readonly McpTool[]): string {
	const lines = tools.map(
		({ name, description, inputSchema: { $schema: _, ...schema } }) =>
			`  - ${name}${description && `: ${description.split("\n")[0]}`}\n    ${JSON.stringify(schema)}`,
	);
	return [`Tools from '${server}' (${tools.length}):`, ...lines].join("\n");
}

/** The answer of `mcp_list_resources`. */
export function resourcesText(server: string, resources: readonly Resource[]): string {
	const lines = resources.map(({ uri, name, mimeType }) => `  - ${uri}: ${name}${mimeType ? ` (${mimeType})` : ""}`);
	return [`Resources from '${server}' (${resources.length}):`, ...lines].join("\n");
}

/** The contents of a resource, as content of a result. */
export function resourceContent({ contents }: ReadResourceResult): ContentBlock[] {
	return contents.map((item): ContentBlock => {
		if ("text" in item) {
			return { type: "text", text: item.text };
		}
		return item.mimeType?.startsWith("image/")
			? { type: "image", data: item.blob, mimeType: item.mimeType }
			: { type: "resource", resource: item };
	});
}
