import { join } from "node:path";
import type {
	ExtensionAPI,
	ExtensionCommandContext,
	ExtensionContext,
	ToolDefinition,
} from "@mariozechner/pi-coding-agent";
import { MANAGEMENT_TOOLS, type ManagementTool, type McpConnection, McpManager, type McpTool } from "xs-mcp-manager";
import { LongResults } from "./long-results.js";
import { answerBy } from "./questions.js";

// Gives pi the nine MCP tools of xs-mcp-manager, and prompts of MCP servers as slash commands.

/** In the project's folder. */
const CONFIG = join(".pi", "mcp-servers.json");

/** Milliseconds that the start of a session waits for servers. */
const SERVERS_TIME = 3_000;

type PiResult = Awaited<ReturnType<ToolDefinition["execute"]>>;
type Status = McpConnection["status"];
type McpResult = Awaited<ReturnType<ManagementTool["run"]>>;

export default function mcpClient(pi: ExtensionAPI): void {
	let manager: McpManager | undefined;
	const expectManager = (): McpManager => {
		if (manager === undefined) {
			throw new Error("MCP is not ready: the session has not begun");
		}
		return manager;
	};
	const longResults = new LongResults();
	const tools = MANAGEMENT_TOOLS.map((tool) => piTool(tool, expectManager, longResults));
	for (const tool of tools) {
		pi.registerTool(tool);
	}
	// Makes the calls of direct tools, too.
	const { execute } = tools.find(({ name }) => name === "mcp_call_tool") as ToolDefinition;
	pi.on("session_start", async (_event, context) => {
		manager = await connect(context);
		registerPrompts(pi, manager);
		registerDirectTools(pi, manager, execute, context.ui);
	});
	pi.on("session_shutdown", async () => {
		const ending = manager;
		manager = undefined;
		await ending?.close();
		await longResults.close();
	});
}

/** Connects to the enabled servers, and reports the outcome to the person. */
async function connect({ cwd, ui, hasUI }: ExtensionContext): Promise<McpManager> {
	const manager = new McpManager({
		file: join(cwd, CONFIG),
		isFileOptional: true,
		...(hasUI && { elicit: answerBy(ui) }),
	});
	showWarnings(manager, ui);
	ui.notify("MCP Client extension loaded • Checking for auto-connect servers...", "info");
	await manager.initialize(SERVERS_TIME);
	const connections = manager.listConnections();
	const idsOf = (wanted: Status): string =>
		connections.flatMap(({ id, status }) => (status === wanted ? id : [])).join(", ");
	const [connected, pending] = [idsOf("connected"), idsOf("connecting")];
	if (connected !== "") {
		ui.notify(`Auto-connected: ${connected}`, "info");
	}
	for (const { id, lastError } of connections.filter(({ status }) => status === "error")) {
		ui.notify(`Failed to auto-connect: ${id}: ${lastError}`, "warning");
	}
	if (pending !== "") {
		ui.notify(`Still connecting: ${pending}`, "info");
	}
	followStatus(manager, ui);
	return manager;
}

/** Maximum number of warnings that are shown. A server may cause thousands, which nobody reads. */
const MAX_WARNINGS = 20;

/** Shows each warning once, and no more than {@link MAX_WARNINGS}. */
function showWarnings(manager: McpManager, ui: ExtensionContext["ui"]): void {
	const shown = new Set<string>();
	manager.on("warning", (message) => {
		if (shown.size > MAX_WARNINGS || shown.has(message)) {
			return;
		}
		shown.add(message);
		const isLast = shown.size > MAX_WARNINGS;
		ui.notify(isLast ? `More than ${MAX_WARNINGS} warnings: the others are not shown` : message, "warning");
	});
}

/** Reports the outcome of servers that were pending, and each outage once, without its retries. */
function followStatus(manager: McpManager, ui: ExtensionContext["ui"]): void {
	/** Statuses that the person has seen, by server. */
	const known = new Map(manager.listConnections().map(({ id, status }) => [id, status]));
	manager.on("status", (id, status, lastError) => {
		const before = known.get(id);
		// A pending server stays pending if its entry in the file has changed.
		if (status === "connecting" || (status === "disconnected" && before === "connecting")) {
			return;
		}
		known.set(id, status);
		if (status === "connected" && before === "connecting") {
			ui.notify(`Auto-connected: ${id}`, "info");
		} else if (status === "error" && before === "connected") {
			ui.notify(`MCP connection '${id}' is lost: ${lastError}`, "warning");
		} else if (status === "error" && before !== "error") {
			const isExpected = before === "connecting" || manager.configs.some((config) => config.id === id);
			if (isExpected) {
				ui.notify(`Failed to auto-connect: ${id}: ${lastError}`, "warning");
			}
		}
	});
}

function piTool(tool: ManagementTool, manager: () => McpManager, longResults: LongResults): ToolDefinition {
	return {
		name: tool.name,
		label: tool.name,
		description: tool.description,
		parameters: tool.inputSchema as unknown as ToolDefinition["parameters"],
		async execute(_id, args, signal, _onUpdate, { hasUI, ui, signal: ended }) {
			/** Asks the person. Rejects if nobody can be asked. @param cure what to do then */
			const confirm = async (title: string, text: string, subject: string, cure: string): Promise<boolean> => {
				if (!hasUI) {
					throw new Error(`The ${subject} is not approved: nobody can be asked. ${cure}`);
				}
				return await ui.confirm(title, text, ended ? { signal: ended } : undefined);
			};
			const result = await tool.run(manager(), args, {
				principal: "pi",
				signal,
				approve: ({ server, tool, args }) => {
					const cure = `Set autoApprove of '${server}' in ${CONFIG}`;
					return confirm(`Call ${tool} of ${server}?`, JSON.stringify(args, undefined, 2), `call of '${tool}'`, cure);
				},
				approveConnection: (id, shown) =>
					confirm(`Connect to ${id}?`, shown, `connection to '${id}'`, `Add it to ${CONFIG}`),
				notify: (text) => ui.notify(text, "info"),
			});
			return await toPi(result, longResults);
		},
	};
}

/** A result in pi's form. pi knows an error only if it is thrown, and only text and images. */
async function toPi({ content, isError }: McpResult, longResults: LongResults): Promise<PiResult> {
	const blocks = await longResults.limited(
		content.map((block): PiResult["content"][number] => {
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
		}),
	);
	if (isError) {
		throw new Error(blocks.map((block) => (block.type === "text" ? block.text : "(image)")).join("\n"));
	}
	// No details: pi keeps them with the session, and they may be as long as the result.
	return { content: blocks, details: undefined };
}

type Prompt = ReturnType<McpManager["listPrompts"]>[number];

/** Makes every prompt of the servers a slash command, `/SERVER:PROMPT`, including prompts that are added later. */
function registerPrompts(pi: ExtensionAPI, manager: McpManager): void {
	const register = (): void => {
		for (const prompt of manager.listPrompts()) {
			const { server, name, description = name } = prompt;
			pi.registerCommand(`${server}:${name}`, {
				description,
				async handler(text, context) {
					const args = await argumentsOf(prompt, text, context);
					try {
						if (args !== undefined) {
							pi.sendUserMessage(await manager.executePrompt(server, name, args));
						}
					} catch (error) {
						context.ui.notify((error as Error).message, "error");
					}
				},
			});
		}
	};
	register();
	manager.on("changed", register);
}

/**
 * Returns the arguments of the command: a word each, and the rest for the last one. Asks for those that are needed and
 * missing. Undefined if the person gave none.
 */
async function argumentsOf(
	{ arguments: names = [] }: Prompt,
	text: string,
	{ ui }: ExtensionCommandContext,
): Promise<Record<string, string> | undefined> {
	const args: Record<string, string> = {};
	let rest = text.trim();
	for (const [index, { name, description, required }] of names.entries()) {
		const end = index === names.length - 1 ? -1 : rest.search(/\s/);
		const word = end === -1 ? rest : rest.slice(0, end);
		rest = rest.slice(word.length).trim();
		const value = word || (required ? await ui.input(name, description) : undefined);
		if (value) {
			args[name] = value;
		} else if (required) {
			return undefined;
		}
	}
	return args;
}

// Registers each tool of servers with `directTools` as a tool of pi, in addition to the management tools.

/** Characters that providers of models reject in the name of a tool, and its maximum length. */
const NAME = /[^a-zA-Z0-9_-]/g;
const MAX_NAME = 64;

/** Maximum number of direct tools: each takes a part of the model's context. */
const MAX_TOOLS = 200;

/**
 * Registers the tools, named `SERVER_TOOL`, again when servers change. Tools that a server no longer has become inactive.
 *
 * @param call runs `mcp_call_tool`
 */
function registerDirectTools(
	pi: ExtensionAPI,
	manager: McpManager,
	call: ToolDefinition["execute"],
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
				const { description, server: connection_id, name: tool_name, inputSchema } = tool;
				pi.registerTool({
					name,
					label: `${connection_id}: ${tool_name}`,
					description: description || `Tool ${tool_name} of the MCP server ${connection_id}`,
					parameters: inputSchema as unknown as ToolDefinition["parameters"],
					execute: (id, given, ...rest) =>
						call(id, { connection_id, tool_name, arguments: given as Record<string, unknown> }, ...rest),
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
