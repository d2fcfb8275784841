import type { McpManager } from "xs-mcp-manager";
import { MANAGEMENT_TOOLS } from "xs-mcp-manager";
import type { OwnTool } from "../catalog/own-tools.js";
import type { Access } from "../config/access.js";

/** The management tools that a client gets, as tools of the gateway. */
export function managementToolsFor(
	access: Access,
	manager: McpManager,
	admitted: "off" | "local" | "all",
): readonly OwnTool[] {
	const isAdmitted =
		admitted === "local"
			? access.principal === "local"
			: // A token that is limited to some devices does not reach the others through these tools.
				admitted === "all" && access.devices === undefined;
	return isAdmitted && !access.isForeignPage && !access.readOnly
		? MANAGEMENT_TOOLS.map((tool) => managementTool(tool, manager))
		: [];
}

function managementTool(tool: (typeof MANAGEMENT_TOOLS)[number], manager: McpManager): OwnTool {
	const { name, description, inputSchema, annotations } = tool;
	return {
		listed: { name, description, inputSchema, annotations },
		call: (args, { principal, signal, ask, notify, onClosed }) =>
			tool.run(manager, args, {
				principal,
				signal,
				notify,
				onHandler: onClosed,
				approve: (request) => approved(request, ask),
				approveConnection: (id, shown) => connectionApproved(id, shown, ask),
			}),
	};
}

async function approved(
	{ server, tool, args }: { readonly server: string; readonly tool: string; readonly args: object },
	ask: (question: string) => Promise<boolean>,
): Promise<boolean> {
	try {
		return await ask(`Call ${tool} of ${server} with ${JSON.stringify(args)}?`);
	} catch (error) {
		const how = `set autoApprove of '${server}' in the file of servers, or use a client that can ask`;
		throw new Error(`The call of '${tool}' is not approved: ${(error as Error).message}; ${how}`);
	}
}

async function connectionApproved(
	id: string,
	shown: string,
	ask: (question: string) => Promise<boolean>,
): Promise<boolean> {
	try {
		return await ask(`Connect to ${id}: ${shown}?`);
	} catch (error) {
		const how = "add it to the file of servers, or use a client that can ask";
		throw new Error(`The connection to '${id}' is not approved: ${(error as Error).message}; ${how}`);
	}
}
