import type { CallToolResult, Client, ContentBlock, Tool } from "@modelcontextprotocol/client";
import { declarationsOf } from "xs-mcp-manager";
import { portable, textOf } from "xs-mcp-manager/core";
import { printable, printableLine } from "../log/printable.js";
import type { DeviceSummary } from "../operator/operator-routes.js";
import { argumentsOf, signatureOf } from "./describe-tool.js";
import { UsageError } from "./exit.js";
import { type ClientOptions, clientFor } from "./gateway-client.js";
import { PATIENCE } from "./gateway-transport.js";
import { print, printParagraph } from "./output.js";
import { saveMedia } from "./save-media.js";
import { parseToolArguments } from "./tool-arguments.js";

/** `tools DEVICE`: prints a device's tools. */
export async function listTools(name: string, options: ClientOptions): Promise<void> {
	await withTools(name, options, async ({ device, tools }) => {
		if (options.json) {
			print(JSON.stringify(tools, undefined, 2));
			return;
		}
		for (const tool of tools) {
			printTool(tool);
		}
		const hidden = hiddenTools(device, tools);
		if (hidden.length > 0) {
			printParagraph(`User-only tools, which need a token created with --allow-user-tools: ${hidden.join(", ")}`);
		}
	});
}

/** `types SERVER`: prints TypeScript declarations of a server's tools. */
export async function writeTypes(name: string, options: ClientOptions): Promise<void> {
	await withTools(name, options, async ({ device, tools }) => {
		process.stdout.write(printable(declarationsOf(device.alias, tools)));
	});
}

function printTool(tool: Tool): void {
	print(printableLine(`${tool.name} ${signatureOf(tool)}`.trimEnd()));
	for (const text of [tool.description ?? "", ...argumentsOf(tool)].filter((each) => each !== "")) {
		printParagraph(text, "    ");
	}
}

export interface CallToolOptions extends ClientOptions {
	/** Where the result's pictures, sound and files are saved. */
	readonly save?: string;
}

/** `call DEVICE TOOL [KEY=VALUE...]`: calls a tool and prints its result. Rejects if the tool failed, or has nothing to save. */
export async function callTool(
	name: string,
	toolName: string,
	pairs: readonly string[],
	options: CallToolOptions,
): Promise<void> {
	await withTools(name, options, async ({ device, tools, client }) => {
		const tool = findTool(toolName, device, tools);
		const result = await callOn(client, tool, parseToolArguments(tool.inputSchema, pairs));
		const saved = options.save === undefined ? undefined : await saveMedia(result.content, options.save);
		const describe = (block: ContentBlock): string => {
			const file = saved?.get(block);
			return file === undefined ? `(${block.type}: --json shows it)` : `(${block.type}: saved to ${file})`;
		};
		const text = options.json ? JSON.stringify(result, undefined, 2) : textOf(result.content, describe);
		// A file gets the device's text unchanged, a terminal without control characters.
		process.stdout.write(`${process.stdout.isTTY ? printable(text) : text}\n`);
		if (options.json) {
			for (const file of saved?.values() ?? []) {
				console.error(`saved to ${file}`);
			}
		}
		if (result.isError) {
			throw new Error(`${toolName} failed`);
		}
		if (saved?.size === 0) {
			throw new Error(`nothing to save: the result of ${toolName} has no picture, sound or file`);
		}
	});
}

/** Calls a tool, and prints its progress. */
export async function callOn(client: Client, { name }: Tool, args: Record<string, unknown>): Promise<CallToolResult> {
	return await client.callTool(
		{ name, arguments: args },
		{
			...PATIENCE,
			onprogress: ({ progress, total, message = "" }) =>
				console.error(printableLine(`progress ${progress}${total === undefined ? "" : `/${total}`} ${message}`)),
		},
	);
}

/** @throws UsageError with the reason why the tool was not found */
export function findTool(name: string, device: DeviceSummary, tools: readonly Tool[]): Tool {
	const isNamed = (each: string): boolean => portable(each) === portable(name);
	const tool = tools.find((each) => each.name === name) ?? tools.find((each) => isNamed(each.name));
	if (tool === undefined) {
		throw new UsageError(
			hiddenTools(device, tools).some(isNamed)
				? `${name}: this tool is user-only. Call it with a token created with --allow-user-tools, or name the device in ` +
						"the gateway's setting userTools"
				: `${name}: unknown tool of ${device.alias}. List its tools: xs-mcp-gateway tools ${device.alias}`,
		);
	}
	return tool;
}

/** The names of a device's tools that this client may not call. */
function hiddenTools({ userOnlyTools }: DeviceSummary, tools: readonly Tool[]): readonly string[] {
	return userOnlyTools.filter((name) => !tools.some((tool) => portable(tool.name) === portable(name)));
}

export interface DeviceTools {
	readonly device: DeviceSummary;
	readonly tools: readonly Tool[];
	readonly client: Client;
}

/** Connects to a device while a task runs. */
export async function withTools(
	name: string,
	options: ClientOptions,
	work: (tools: DeviceTools) => Promise<void>,
): Promise<void> {
	const gateway = clientFor(options);
	const device = await gateway.device(name);
	const client = await gateway.connect(device.alias);
	try {
		const { tools } = await client.listTools();
		await work({ device, tools, client });
	} finally {
		await client.close();
	}
}
