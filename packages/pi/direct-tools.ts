// Registers each tool of servers with `directTools` as a tool of pi, in addition to the management tools.
import type { ExtensionAPI, ExtensionContext, ToolDefinition } from "@mariozechner/pi-coding-agent";
import { MANAGEMENT_TOOLS, type McpManager, type McpTool } from "xs-mcp-manager";

/** Providers of models allow this for the name of a tool. */
const NAME = /[^a-zA-Z0-9_-]/g;
const MAX_NAME = 64;

/** Tools at the same time: each costs a part of the model's context. */
const MAX_TOOLS = 200;

/** Runs a tool for pi. */
export type RunTool = (tool: McpTool) => ToolDefinition["execute"];

/** Registers the tools, named `SERVER_TOOL`, again when servers change. Tools that a server no longer has become inactive. */
export function registerDirectTools(
	pi: ExtensionAPI,
	manager: McpManager,
	run: RunTool,
	ui: ExtensionContext["ui"],
): void {
	/** The tools that are offered, by the name for the model; as JSON, to tell which have changed. */
	const offered = new Map<string, string>();
	const skipped = new Set<string>();
	const skip = (tool: McpTool, reason: string): void => {
		const text = `Tool '${tool.name}' of '${tool.server}' is not offered directly: ${reason}`;
		if (!skipped.has(text)) {
			skipped.add(text);
			ui.notify(text, "warning");
		}
	};
	const update = (): void => {
		const taken = new Set(MANAGEMENT_TOOLS.map(({ name }) => name));
		const named = new Map<string, McpTool>();
		for (const tool of manager.listDirectTools()) {
			const name = `${tool.server}_${tool.name}`.replace(NAME, "_").slice(0, MAX_NAME);
			if (taken.has(name) || named.has(name)) {
				skip(tool, `another tool is named ${name}`);
			} else if (named.size >= MAX_TOOLS) {
				skip(tool, `too many tools (limit ${MAX_TOOLS})`);
			} else {
				named.set(name, tool);
			}
		}
		const gone = [...offered.keys()].filter((name) => !named.has(name));
		const isNew: string[] = [];
		for (const [name, tool] of named) {
			const text = JSON.stringify([tool.server, tool]);
			if (offered.get(name) !== text) {
				isNew.push(name);
				offered.set(name, text);
				const { description, server, inputSchema } = tool;
				pi.registerTool({
					name,
					label: `${server}: ${tool.name}`,
					description: description || `Tool ${tool.name} of the MCP server ${server}`,
					parameters: inputSchema as unknown as ToolDefinition["parameters"],
					execute: run(tool),
				});
			}
		}
		for (const name of gone) {
			offered.delete(name);
		}
		const active = pi.getActiveTools();
		if (gone.length > 0 || isNew.some((name) => !active.includes(name))) {
			pi.setActiveTools([...new Set([...active.filter((name) => !gone.includes(name)), ...isNew])]);
		}
	};
	update();
	manager.on("changed", update);
	// A server that is no longer configured has no tools.
	manager.on("status", update);
}
