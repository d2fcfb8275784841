import type { CallToolResult, Tool } from "@modelcontextprotocol/client";
import { type Command, Option } from "commander";
import { EventSourceParserStream } from "eventsource-parser/stream";
import type { GatewayEvent } from "../events.js";
import type { DeviceSummary } from "../http/operator-routes.js";
import { EXIT, UsageError } from "./exit.js";
import { GatewayClient } from "./gateway-client.js";
import { PATIENCE } from "./gateway-transport.js";
import { parseToolArguments } from "./tool-arguments.js";

/** Where a gateway listens unless it is told otherwise. */
const DEFAULT_URL = "http://127.0.0.1:8766";

/** What the commands that ask a gateway have in common. */
export interface ClientOptions {
	readonly url?: string;
	readonly token?: string;
	readonly json?: boolean;
}

/** Adds the commands that ask a running gateway. */
export function addClientCommands(program: Command): void {
	clientCommand(program, "devices")
		.description("List the devices that the gateway knows")
		.option("--json", "as JSON")
		.action(listDevices);
	clientCommand(program, "tools")
		.description("List a device's tools")
		.argument("<device>", "alias or id")
		.option("--json", "as JSON, with schemas")
		.action(listTools);
	clientCommand(program, "call")
		.description("Call a device's tool")
		.argument("<device>", "alias or id")
		.argument("<tool>", "its name")
		.argument("[arguments...]", "key=value …, numbers, true, false and JSON as the tool's schema has them")
		.option("--json", "the whole result as JSON")
		.action(callTool);
	clientCommand(program, "watch")
		.description("Show what happens: devices that come and go, notifications, calls")
		.option("--json", "a JSON object a line")
		.action(watch);
	clientCommand(program, "forget")
		.description("Let the gateway forget a device that will not come back")
		.argument("<device>", "alias or id")
		.action(forget);
}

function clientCommand(program: Command, name: string): Command {
	return withAddress(program.command(name)).hook("preAction", () => {
		process.stdout.on("error", (error: NodeJS.ErrnoException) => {
			// Whoever reads the output has had enough: `xs-mcp-gateway watch | head`.
			process.exit(error.code === "EPIPE" ? EXIT.ok : EXIT.failed);
		});
	});
}

/** Adds the options that say where the gateway runs. */
export function withAddress(command: Command): Command {
	return command
		.addOption(new Option("--url <url>", "the gateway's URL").env("XS_MCP_GATEWAY_URL").default(DEFAULT_URL))
		.addOption(new Option("--token <token>", "a host's token; better by environment").env("XS_MCP_GATEWAY_TOKEN"));
}

/** The gateway that the options name. */
export function clientFor({ url = DEFAULT_URL, token }: ClientOptions): GatewayClient {
	return new GatewayClient({ url, token });
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
	const state = connected ? `connected by ${transport} since ${lastSeen}` : `away, last seen ${lastSeen}`;
	return [alias, id, `${board.name} ${board.version}`, String(tools), state];
}

async function listTools(device: string, options: ClientOptions): Promise<void> {
	const gateway = clientFor(options);
	const client = await gateway.connect(device);
	try {
		const { tools } = await client.listTools();
		if (options.json) {
			print(JSON.stringify(tools, undefined, 2));
		} else {
			for (const tool of tools) {
				print(`${tool.name} ${signature(tool)}\n    ${(tool.description ?? "").replaceAll("\n", "\n    ")}`);
			}
		}
	} finally {
		await client.close();
	}
}

/** A tool's arguments, as they would be written; those in brackets may be left out. */
function signature({ inputSchema }: Tool): string {
	const required = inputSchema.required ?? [];
	return Object.entries(inputSchema.properties ?? {})
		.map(([name, schema]) => {
			const { type = "JSON" } = schema as { type?: unknown };
			return required.includes(name) ? `${name}=${type}` : `[${name}=${type}]`;
		})
		.join(" ");
}

async function callTool(device: string, name: string, pairs: readonly string[], options: ClientOptions): Promise<void> {
	const gateway = clientFor(options);
	const client = await gateway.connect(device);
	try {
		const { tools } = await client.listTools();
		const tool =
			tools.find((each) => each.name === name) ?? tools.find((each) => portable(each.name) === portable(name));
		if (tool === undefined) {
			throw new UsageError(`${name}: ${device} has no such tool: xs-mcp-gateway tools ${device} lists them`);
		}
		const params = { name: tool.name, arguments: parseToolArguments(tool.inputSchema, pairs) };
		const result = await client.callTool(params, {
			...PATIENCE,
			onprogress: ({ progress, total, message }) =>
				console.error(`progress ${progress}${total === undefined ? "" : `/${total}`} ${message ?? ""}`),
		});
		print(options.json ? JSON.stringify(result, undefined, 2) : textOf(result));
		if (result.isError) {
			throw new Error(`${name} failed`);
		}
	} finally {
		await client.close();
	}
}

/** The gateway may list a device's own name in a form that every host takes, or not: people may use either. */
function portable(name: string): string {
	return name.replace(/[^A-Za-z0-9_-]/g, "_");
}

function textOf({ content }: CallToolResult): string {
	return content.map((item) => (item.type === "text" ? item.text : `(${item.type}: --json shows it)`)).join("\n");
}

async function watch(options: ClientOptions): Promise<void> {
	const { body } = await clientFor(options).ask("/events");
	const events = (body as ReadableStream<Uint8Array>)
		.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>)
		.pipeThrough(new EventSourceParserStream());
	try {
		for await (const { data } of events as AsyncIterable<{ data: string }> & typeof events) {
			print(options.json ? data : describe(JSON.parse(data) as GatewayEvent));
		}
	} catch (error) {
		throw new Error("the gateway is gone", { cause: error });
	}
	throw new Error("the gateway has ended the stream");
}

function describe(event: GatewayEvent): string {
	return `${event.time}  ${event.device}  ${event.type}  ${details(event)}`;
}

function details(event: GatewayEvent): string {
	switch (event.type) {
		case "connected":
			return event.transport;
		case "disconnected":
			return event.reason;
		case "notification":
			return `${event.method} ${JSON.stringify(event.params)}`;
		case "call":
			return `${event.tool} by ${event.principal}: ${event.outcome} in ${event.duration.toFixed(1)} ms`;
	}
}

async function forget(device: string, options: ClientOptions): Promise<void> {
	const gateway = clientFor(options);
	const { alias } = await gateway.device(device);
	await gateway.ask(`/devices/${encodeURIComponent(alias)}`, { method: "DELETE" });
	print(`${alias} is forgotten.`);
}

function printTable(rows: readonly (readonly string[])[]): void {
	const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
	for (const row of rows) {
		print(
			row
				.map((cell, column) => cell.padEnd(widths[column] ?? 0))
				.join("  ")
				.trimEnd(),
		);
	}
}

function print(line: string): void {
	process.stdout.write(`${line}\n`);
}
