import type { CallToolResult, ContentBlock, ListToolsResult, Progress, Tool } from "@modelcontextprotocol/client";
import { declarationsOf } from "xs-mcp-manager";
import { portable, readList, textOf } from "xs-mcp-manager/core";
import type { DeviceSummary } from "../console/operator-routes.js";
import { GatewayError } from "../gateway-error.js";
import { printable, printableLine } from "../printable.js";
import { type ClientFlags, clientFor, type GatewayClient } from "./gateway-client.js";
import { print, printParagraph } from "./output.js";
import { saveMedia } from "./save-media.js";
import { parseToolArguments } from "./tool-arguments.js";

/** `tools DEVICE`: prints a device's tools. */
export async function listTools(name: string, options: ClientFlags): Promise<void> {
	const { device, tools } = await toolsOf(name, options);
	if (options.json) {
		print(JSON.stringify(tools, undefined, 2));
		return;
	}
	for (const tool of tools) {
		print(printableLine(`${tool.name} ${signatureOf(tool)}`.trimEnd()));
		for (const text of [tool.description ?? "", ...argumentsOf(tool)].filter((each) => each !== "")) {
			printParagraph(text, "    ");
		}
	}
	const hidden = hiddenTools(device, tools);
	if (hidden.length > 0) {
		printParagraph(`User-only tools, which need a token created with --allow-user-tools: ${hidden.join(", ")}`);
	}
}

/** `types SERVER`: prints TypeScript declarations of a server's tools. */
export async function writeTypes(name: string, options: ClientFlags): Promise<void> {
	const { device, tools } = await toolsOf(name, options);
	process.stdout.write(printable(declarationsOf(device.alias, tools)));
}

export interface CallFlags extends ClientFlags {
	/** Folder for the result's pictures, sound and files. */
	readonly save?: string;
}

/** `call DEVICE TOOL [KEY=VALUE...]`: calls a tool and prints its result. Rejects if the tool failed, or has nothing to save. */
export async function callTool(
	name: string,
	toolName: string,
	pairs: readonly string[],
	options: CallFlags,
): Promise<void> {
	const { gateway, device, tools } = await toolsOf(name, options);
	const tool = findTool(toolName, device, tools);
	const result = await callOn(gateway, device, tool, parseToolArguments(tool.inputSchema, pairs));
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
}

/** Calls a tool, and prints its progress. */
export async function callOn(
	gateway: GatewayClient,
	{ alias }: DeviceSummary,
	{ name, inputSchema }: Tool,
	args: Record<string, unknown>,
): Promise<CallToolResult> {
	const params = { name, arguments: args };
	const onProgress = ({ progress, total, message = "" }: Progress): void =>
		console.error(printableLine(`progress ${progress}${total === undefined ? "" : `/${total}`} ${message}`));
	const { resultType, ...result } = await gateway.request<CallToolResult>(
		alias,
		"tools/call",
		params,
		inputSchema,
		onProgress,
	);
	if (resultType !== "complete") {
		throw new Error(`${name} asks for input, which this command cannot provide`);
	}
	return result as CallToolResult;
}

/** @throws GatewayError with the reason why the tool was not found */
export function findTool(name: string, device: DeviceSummary, tools: readonly Tool[]): Tool {
	const isNamed = (each: string): boolean => portable(each) === portable(name);
	const tool = tools.find((each) => each.name === name) ?? tools.find((each) => isNamed(each.name));
	if (tool === undefined) {
		throw new GatewayError(
			"usage",
			hiddenTools(device, tools).some(isNamed)
				? `${name}: this tool is user-only. Call it with a token created with --allow-user-tools, or add ${device.id} to ` +
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

/** A device, and all its tools that the token may call. */
export async function toolsOf(name: string, options: ClientFlags) {
	const gateway = clientFor(options);
	const device = await gateway.device(name);
	const readPage = (cursor: string) =>
		gateway.request<ListToolsResult>(device.alias, "tools/list", cursor === "" ? {} : { cursor });
	const tools = (await readList("tools", readPage)) as readonly Tool[];
	return { gateway, device, tools };
}

interface PropertySchema {
	readonly type?: string;
	readonly enum?: readonly unknown[];
	readonly minimum?: number;
	readonly maximum?: number;
	readonly minLength?: number;
	readonly maxLength?: number;
	readonly default?: unknown;
	readonly description?: string;
}

/** A tool's arguments as written on the command line: `volume=0..100 [theme=light|dark]`. Optional ones are in brackets. */
export function signatureOf({ inputSchema }: Tool): string {
	const required = inputSchema.required ?? [];
	return propertiesOf(inputSchema)
		.map(([name, schema]) =>
			required.includes(name) ? `${name}=${valueFor(schema)}` : `[${name}=${valueFor(schema)}]`,
		)
		.join(" ");
}

/** A line for each argument with a description or default. */
export function argumentsOf({ inputSchema }: Tool): string[] {
	return propertiesOf(inputSchema).flatMap(([name, { description, default: value }]) => {
		const otherwise = value === undefined ? [] : [`(default: ${JSON.stringify(value)})`];
		const parts = [...(description === undefined ? [] : [description]), ...otherwise];
		return parts.length === 0 ? [] : [`${name}: ${parts.join(" ")}`];
	});
}

function propertiesOf({ properties = {} }: Tool["inputSchema"]): [string, PropertySchema][] {
	return Object.entries(properties) as [string, PropertySchema][];
}

function valueFor(schema: PropertySchema): string {
	const { type = "JSON", minimum, maximum, minLength, maxLength } = schema;
	if (Array.isArray(schema.enum)) {
		return schema.enum.join("|");
	}
	if (minimum !== undefined || maximum !== undefined) {
		return `${type === "number" ? "number " : ""}${minimum ?? ""}..${maximum ?? ""}`;
	}
	if (minLength !== undefined || maxLength !== undefined) {
		return `${type} of ${minLength ?? 0}..${maxLength ?? ""} characters`;
	}
	return type;
}
