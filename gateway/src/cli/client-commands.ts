import type { CallToolResult, Client, Tool } from "@modelcontextprotocol/client";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { DeviceSummary } from "../http/operator/operator-routes.js";
import { printable, printableLine } from "../log/printable.js";
import { declarationsOf } from "../manager/typed-tools.js";
import { collect } from "./configuration-options.js";
import { argumentsOf, signatureOf } from "./describe-tool.js";
import { EXIT, UsageError } from "./exit.js";
import { type CatalogOptions, GatewayClient } from "./gateway-client.js";
import { PATIENCE } from "./gateway-transport.js";
import { print, printParagraph, printTable } from "./output.js";
import { parseToolArguments } from "./tool-arguments.js";

/** Where a gateway listens by default. */
const DEFAULT_URL = "http://127.0.0.1:8766";

/** What the commands that ask a gateway have in common. */
export interface ClientOptions {
	readonly url?: string;
	readonly token?: string;
	readonly json?: boolean;
}

/** Adds the commands that ask a running gateway. Returns the command `devices`. */
export function addClientCommands(program: Command): Command {
	const devices = clientCommand(program, "devices")
		.description("List the devices that the gateway knows")
		.option("--json", "as JSON")
		.action(listDevices);
	clientCommand(program, "tools")
		.description("List a device's tools")
		.argument("<device>", "alias or id")
		.option("--json", "as JSON, with schemas")
		.action(listTools);
	clientCommand(program, "types")
		.description("Write TypeScript declarations of a server's tools, for McpManager.typed")
		.argument("<server>", "alias or id")
		.action(writeTypes);
	clientCommand(program, "call")
		.description("Call a device's tool")
		.argument("<device>", "alias or id")
		.argument("<tool>", "its name")
		.argument(
			"[arguments...]",
			"key=value; the tool's schema says how a value is read: number, true, false, JSON, text",
		)
		.option("--json", "the whole result as JSON")
		.action(callTool);
	clientCommand(program, "watch")
		.description("Show events as they happen: devices connect and disconnect, notifications, calls")
		.option("--json", "a JSON object a line")
		.action(watch);
	clientCommand(program, "forget")
		.description("Forget a device that will not come back, or all that have been offline for some time")
		.argument("[device]", "alias or id")
		.addOption(
			new Option("--away-since <time>", "every device that has been offline for that long: 30m, 12h, 1d").argParser(
				readSeconds,
			),
		)
		.action(forget);
	clientCommand(program, "rename")
		.description("Give a device another alias, which it keeps; the names of its tools in /mcp begin with it")
		.argument("<device>", "alias or id")
		.argument("<alias>", 'up to 24 of a-z, 0-9 and single "_" or "-" between them')
		.action(rename);
	return devices;
}

function clientCommand(program: Command, name: string): Command {
	return withAddress(program.command(name)).hook("preAction", () => {
		process.stdout.on("error", (error: NodeJS.ErrnoException) => {
			// The reader has read enough: `xs-mcp-gateway watch | head`.
			process.exit(error.code === "EPIPE" ? EXIT.ok : EXIT.failed);
		});
	});
}

/** Adds the options that say where the gateway runs. */
export function withAddress(command: Command): Command {
	return command
		.addOption(new Option("--url <url>", "the gateway's URL").env("XS_MCP_GATEWAY_URL").default(DEFAULT_URL))
		.addOption(new Option("--token <token>", "a client's token; the variable is safer").env("XS_MCP_GATEWAY_TOKEN"));
}

/** Adds the options that say which tools the gateway lists. */
export function withCatalog(command: Command): Command {
	return command
		.addOption(
			new Option("--catalog <mode>", "which tools are listed; default: as the gateway's settings say").choices([
				"auto",
				"full",
				"search",
			]),
		)
		.option("--catalog-limit <tools>", "tools in a full list at most, if the mode is auto")
		.option(
			"--pinned-tools <tool>",
			"tools that are always listed; * at the end stands for the rest of a name",
			collect,
		);
}

/** What {@link withCatalog} has read. */
export function catalogFrom({ catalog, catalogLimit, pinnedTools }: CatalogOptions): CatalogOptions {
	return {
		...(catalog !== undefined && { catalog }),
		...(catalogLimit !== undefined && { catalogLimit }),
		...(pinnedTools !== undefined && { pinnedTools }),
	};
}

/** The gateway that the options name. */
export function clientFor({ url = DEFAULT_URL, token }: ClientOptions): GatewayClient {
	return new GatewayClient(url, token);
}

async function listDevices(options: ClientOptions): Promise<void> {
	const devices = await clientFor(options).devices();
	if (options.json) {
		print(JSON.stringify(devices, undefined, 2));
	} else if (devices.length === 0) {
		print("The gateway knows no device yet.");
	} else {
		printTable([["ALIAS", "ID", "BOARD", "TOOLS", "STATE"], ...devices.map(rowOf)]);
	}
}

function rowOf({ alias, id, board, tools, connected, transport, lastSeen }: DeviceSummary): string[] {
	const state = connected ? `online by ${transport} since ${lastSeen}` : `offline, last seen ${lastSeen}`;
	return [alias, id, `${board.name} ${board.version}`, String(tools), state];
}

async function listTools(name: string, options: ClientOptions): Promise<void> {
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
			printParagraph(`User-only tools, which need a token with --user-tools: ${hidden.join(", ")}`);
		}
	});
}

async function writeTypes(name: string, options: ClientOptions): Promise<void> {
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

async function callTool(
	name: string,
	toolName: string,
	pairs: readonly string[],
	options: ClientOptions,
): Promise<void> {
	await withTools(name, options, async ({ device, tools, client }) => {
		const tool = findTool(toolName, device, tools);
		const params = { name: tool.name, arguments: parseToolArguments(tool.inputSchema, pairs) };
		const result = await client.callTool(params, {
			...PATIENCE,
			onprogress: ({ progress, total, message = "" }) =>
				console.error(printableLine(`progress ${progress}${total === undefined ? "" : `/${total}`} ${message}`)),
		});
		const text = options.json ? JSON.stringify(result, undefined, 2) : textOf(result);
		// A file gets what the device answered, a terminal nothing that could control it.
		process.stdout.write(`${process.stdout.isTTY ? printable(text) : text}\n`);
		if (result.isError) {
			throw new Error(`${toolName} failed`);
		}
	});
}

/** @throws UsageError that says why there is no such tool */
function findTool(name: string, device: DeviceSummary, tools: readonly Tool[]): Tool {
	const isNamed = (each: string): boolean => portable(each) === portable(name);
	const tool = tools.find((each) => each.name === name) ?? tools.find((each) => isNamed(each.name));
	if (tool === undefined) {
		throw new UsageError(
			hiddenTools(device, tools).some(isNamed)
				? `${name}: this tool is user-only. Call it with a token that was made with --user-tools, or name the device in ` +
						"the gateway's setting userTools"
				: `${name}: ${device.alias} has no such tool. To list its tools: xs-mcp-gateway tools ${device.alias}`,
		);
	}
	return tool;
}

/** The names of the tools that a device has, but this client may not call. */
function hiddenTools({ userOnlyTools }: DeviceSummary, tools: readonly Tool[]): readonly string[] {
	return userOnlyTools.filter((name) => !tools.some((tool) => portable(tool.name) === portable(name)));
}

/** The gateway may list a device's own name in a form that every client accepts: people may use either. */
function portable(name: string): string {
	return name.replace(/[^A-Za-z0-9_-]/g, "_");
}

interface DeviceTools {
	readonly device: DeviceSummary;
	readonly tools: readonly Tool[];
	readonly client: Client;
}

/** Connects to a device for as long as some work takes. */
async function withTools(
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

function textOf({ content }: CallToolResult): string {
	return content.map((item) => (item.type === "text" ? item.text : `(${item.type}: --json shows it)`)).join("\n");
}

async function watch(options: ClientOptions): Promise<void> {
	// Loaded only when it is needed: the other commands start faster without it.
	const { watchGateway } = await import("./watch.js");
	await watchGateway(clientFor(options), options.json ?? false);
}

async function forget(device: string | undefined, options: ClientOptions & { awaySince?: number }): Promise<void> {
	const { awaySince: seconds } = options;
	if ((device === undefined) === (seconds === undefined)) {
		throw new UsageError("expected a device, or --away-since, and not both");
	}
	const gateway = clientFor(options);
	const forgotten = device === undefined ? await forgetOffline(gateway, seconds) : [await forgetOne(gateway, device)];
	print(
		forgotten.length === 0
			? "No device has been offline for that long."
			: forgotten.map((alias) => `${alias} is forgotten.`).join("\n"),
	);
}

async function forgetOne(gateway: GatewayClient, device: string): Promise<string> {
	const { alias } = await gateway.device(device);
	await gateway.ask(`/devices/${encodeURIComponent(alias)}`, { method: "DELETE" });
	return alias;
}

async function forgetOffline(gateway: GatewayClient, seconds = 0): Promise<string[]> {
	const response = await gateway.ask(`/devices?offlineSeconds=${seconds}`, { method: "DELETE" });
	return ((await response.json()) as { forgotten: string[] }).forgotten;
}

async function rename(device: string, alias: string, options: ClientOptions): Promise<void> {
	const gateway = clientFor(options);
	const { alias: before } = await gateway.device(device);
	await gateway.ask(`/devices/${encodeURIComponent(before)}`, { method: "PATCH", json: { alias } });
	print(`${before} is now ${alias}.`);
}

const SECONDS = { s: 1, m: 60, h: 3_600, d: 86_400 } as const;

/** Reads "30m" as 1,800 seconds. */
function readSeconds(text: string): number {
	const [, number, unit] = /^([0-9]{1,4})([smhd])$/.exec(text) ?? [];
	if (number === undefined) {
		throw new InvalidArgumentError("Expected a time like 30m, 12h or 1d.");
	}
	return Number(number) * SECONDS[unit as keyof typeof SECONDS];
}
