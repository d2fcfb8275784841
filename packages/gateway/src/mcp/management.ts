import { MANAGEMENT_TOOLS, type McpManager } from "xs-mcp-manager";
import type { OwnTool } from "../catalog/catalog.js";
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
	if (!isAdmitted || access.isForeignPage || access.readOnly) {
		return [];
	}
	return MANAGEMENT_TOOLS.map(({ name, description, inputSchema, annotations, ...tool }) => ({
		listed: { name, description, inputSchema, annotations },
		call: (args, caller) =>
			tool.run(manager, args, {
				principal: caller.principal,
				signal: caller.signal,
				notify: (text) => caller.notify(text),
				onHandler: (end) => caller.onClosed(end),
				approve: ({ server, tool: name, args: given }) =>
					caller
						.ask(`Call ${name} of ${server} with ${JSON.stringify(given)}?`)
						.catch(notApproved(`The call of '${name}'`, `set autoApprove of '${server}' in the file of servers`)),
				approveConnection: (id, shown) =>
					caller
						.ask(`Connect to ${id}: ${shown}?`)
						.catch(notApproved(`The connection to '${id}'`, "add it to the file of servers")),
			}),
	}));
}

/** Rejects with the reason why a client could not ask the person, and the next step. */
function notApproved(what: string, how: string): (error: Error) => never {
	return ({ message }) => {
		throw new Error(`${what} is not approved: ${message}; ${how}, or use a client that can ask`);
	};
}
