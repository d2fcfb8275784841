// Gives pi the nine MCP tools of xs-mcp-manager, and prompts of MCP servers as slash commands.
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { ExtensionAPI, ExtensionContext, ToolDefinition } from "@mariozechner/pi-coding-agent";
import { type ApprovalRequest, MANAGEMENT_TOOLS, type ManagementTool, McpManager } from "xs-mcp-manager";
import { registerPrompts } from "./prompts.js";

/** In the project's folder. */
const CONFIG = join(".pi", "mcp-servers.json");

type PiResult = Awaited<ReturnType<ToolDefinition["execute"]>>;
type McpResult = Awaited<ReturnType<ManagementTool["run"]>>;

export default function mcpClient(pi: ExtensionAPI): void {
	let manager: McpManager | undefined;
	const expectManager = (): McpManager => {
		if (manager === undefined) {
			throw new Error("MCP is not ready: the session has not begun");
		}
		return manager;
	};
	for (const tool of MANAGEMENT_TOOLS) {
		pi.registerTool(piTool(tool, expectManager));
	}
	pi.on("session_start", async (_event, context) => {
		manager = await connect(context);
		registerPrompts(pi, manager);
	});
	pi.on("session_shutdown", async () => {
		const ending = manager;
		manager = undefined;
		await ending?.close();
	});
}

/** Connects to the servers that are enabled, and tells the person. */
async function connect({ cwd, ui }: ExtensionContext): Promise<McpManager> {
	const file = join(cwd, CONFIG);
	const manager = new McpManager({ file: existsSync(file) ? file : undefined });
	manager.on("warning", (message) => ui.notify(message, "warning"));
	ui.notify("MCP Client extension loaded • Checking for auto-connect servers...", "info");
	await manager.initialize();
	const connections = manager.listConnections();
	const connected = connections.filter(({ status }) => status === "connected").map(({ id }) => id);
	if (connected.length > 0) {
		ui.notify(`Auto-connected: ${connected.join(", ")}`, "info");
	}
	for (const { id, status, lastError } of connections) {
		if (status === "error") {
			ui.notify(`Failed to auto-connect: ${id}: ${lastError}`, "warning");
		}
	}
	manager.on("status", (id, status, lastError) => {
		if (status === "error") {
			ui.notify(`MCP connection '${id}' is lost: ${lastError}`, "warning");
		}
	});
	return manager;
}

function piTool(tool: ManagementTool, manager: () => McpManager): ToolDefinition {
	return {
		name: tool.name,
		label: tool.name,
		description: tool.description,
		parameters: tool.inputSchema as unknown as ToolDefinition["parameters"],
		async execute(_id, args, signal, _onUpdate, context) {
			const result = await tool.run(manager(), args, {
				principal: "pi",
				signal,
				approve: (request) => approve(request, context),
				notify: (text) => context.ui.notify(text, "info"),
			});
			return toPi(result);
		},
	};
}

/** Asks the person. Throws if nobody can be asked. */
async function approve(
	{ server, tool, args }: ApprovalRequest,
	{ hasUI, ui, signal }: ExtensionContext,
): Promise<boolean> {
	if (!hasUI) {
		throw new Error(
			`The call of '${tool}' is not approved: nobody can be asked. Set autoApprove of '${server}' in ${CONFIG}`,
		);
	}
	const title = `Call ${tool} of ${server}?`;
	return await ui.confirm(title, JSON.stringify(args, undefined, 2), signal ? { signal } : undefined);
}

/** A result as pi has it. pi knows an error only if it is thrown, and only text and images. */
function toPi({ content, structuredContent, isError }: McpResult): PiResult {
	const blocks = content.map((block): PiResult["content"][number] => {
		switch (block.type) {
			case "text":
				return { type: "text", text: block.text };
			case "image":
				return { type: "image", data: block.data, mimeType: block.mimeType };
			case "audio":
				return { type: "text", text: `(audio, ${block.mimeType})` };
			default:
				return { type: "text", text: JSON.stringify(block) };
		}
	});
	if (isError) {
		throw new Error(blocks.map((block) => (block.type === "text" ? block.text : "(image)")).join("\n"));
	}
	return { content: blocks, details: structuredContent };
}
