import { type Command, InvalidArgumentError } from "commander";
import type { DeviceSummary, GatewayEvent } from "../console/operator-routes.js";
import { EXIT, GatewayError } from "../gateway-error.js";
import { printableLine } from "../printable.js";
import { type ClientFlags, clientFor, eventsIn, withAddress } from "./gateway-client.js";
import { print, printTable } from "./output.js";
import type { CallFlags } from "./tool-commands.js";

/** Adds the commands that ask a running gateway. Returns the command `devices`. */
export function addClientCommands(program: Command): Command {
	const devices = clientCommand(program, "devices")
		.description("List the devices that the gateway knows")
		.option("--json", "Print JSON")
		.action(listDevices);
	clientCommand(program, "tools")
		.description("List a device's tools")
		.argument("<device>", "Alias or id")
		.option("--json", "Print JSON, with schemas")
		.action(async (device: string, options: ClientFlags) => (await toolCommands()).listTools(device, options));
	clientCommand(program, "types")
		.description("Write TypeScript declarations of a server's tools, for McpManager.typed")
		.argument("<server>", "Alias or id")
		.action(async (device: string, options: ClientFlags) => (await toolCommands()).writeTypes(device, options));
	clientCommand(program, "call")
		.description("Call a device's tool")
		.argument("<device>", "Alias or id")
		.argument("<tool>", "Name of the tool")
		.argument(
			"[arguments...]",
			"key=value; the tool's schema determines how a value is read: number, true, false, JSON, text",
		)
		.option("--json", "Print the whole result as JSON")
		.option("--save <file>", "Save pictures, sound and files of the result; further ones as FILE-2, FILE-3, …")
		.action(async (device: string, tool: string, pairs: readonly string[], options: CallFlags) =>
			(await toolCommands()).callTool(device, tool, pairs, options),
		);
	clientCommand(program, "watch")
		.description("Show events as they happen: connections, notifications, calls")
		.option("--json", "Print one JSON object per line")
		.action(watch);
	clientCommand(program, "forget")
		.description("Forget an offline device, or all devices that have been offline for some time")
		.argument("[device]", "Alias or id")
		.option("--offline-since <time>", "Every device that has been offline for this long: 30m, 12h, 1d", readSeconds)
		.action(forget);
	clientCommand(program, "rename")
		.description("Change a device's alias, which prefixes the names of its tools in /mcp, or its title")
		.argument("<device>", "Alias or id")
		.argument("[alias]", 'Up to 24 characters: a-z, 0-9, and single "_" or "-" between them')
		.option("--title <title>", 'A name for people, in any script: "Living room"; "" removes it')
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

async function listDevices(options: ClientFlags): Promise<void> {
	const devices = await clientFor(options).devices();
	if (options.json) {
		print(JSON.stringify(devices, undefined, 2));
	} else if (devices.length === 0) {
		print("No devices yet.");
	} else {
		const rows = devices.map(({ alias, title, tags, id, board, tools, connected, transport, lastSeen }) => {
			const state = connected ? `online by ${transport} since ${lastSeen}` : `offline, last seen ${lastSeen}`;
			const name = title === undefined ? alias : `${alias} "${title}"`;
			return [name, id, `${board.name} ${board.version}`, String(tools), state, tags.join(" ")];
		});
		const table = [["ALIAS", "ID", "BOARD", "TOOLS", "STATE", "TAGS"], ...rows];
		printTable(devices.some(({ tags }) => tags.length > 0) ? table : table.map((row) => row.slice(0, -1)));
	}
}

/** The SDK's modules are loaded on demand, so that other commands start faster. */
const toolCommands = () => import("./tool-commands.js");

async function forget(device: string | undefined, options: ClientFlags & { offlineSince?: number }): Promise<void> {
	const { offlineSince: seconds } = options;
	if ((device === undefined) === (seconds === undefined)) {
		throw new GatewayError("usage", "expected a device or --offline-since, not both");
	}
	const gateway = clientFor(options);
	if (device !== undefined) {
		const { alias } = await gateway.device(device);
		await gateway.ask(`/devices/${encodeURIComponent(alias)}`, { method: "DELETE" });
		print(`${alias} forgotten.`);
		return;
	}
	const path = `/devices?offlineSeconds=${seconds}`;
	const { forgotten } = await gateway.ask<{ forgotten: string[] }>(path, { method: "DELETE" });
	print(forgotten.map((alias) => `${alias} forgotten.`).join("\n") || "No device has been offline for that long.");
}

async function rename(
	device: string,
	alias: string | undefined,
	options: ClientFlags & { title?: string },
): Promise<void> {
	const { title } = options;
	if (alias === undefined && title === undefined) {
		throw new GatewayError("usage", "expected an alias or --title");
	}
	const gateway = clientFor(options);
	const { alias: before } = await gateway.device(device);
	const json = { alias, title };
	const now = await gateway.ask<DeviceSummary>(`/devices/${encodeURIComponent(before)}`, { method: "PATCH", json });
	print(printableLine(`${before} is now ${now.alias}${now.title === undefined ? "" : ` "${now.title}"`}.`));
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

async function watch(options: ClientFlags): Promise<void> {
	const response = await clientFor(options).open("/events");
	try {
		for await (const data of eventsIn(response)) {
			if (options.json) {
				print(data);
				continue;
			}
			const event = JSON.parse(data) as GatewayEvent;
			print(printableLine(`${event.time}  ${event.alias ?? event.device}  ${event.type}  ${detailsOf(event)}`));
		}
	} catch (error) {
		throw new Error("lost the connection to the gateway", { cause: error });
	}
	throw new Error("the gateway closed the event stream");
}

function detailsOf(event: GatewayEvent): string {
	switch (event.type) {
		case "connected":
			return event.transport;
		case "disconnected":
			return event.reason;
		case "notification":
			return `${event.method} ${JSON.stringify(event.params)}`;
		case "firmware":
			return `firmware ${event.version} ${event.step}`;
		case "call":
			return `${event.tool} by ${event.principal}: ${event.outcome} in ${event.duration.toFixed(1)} ms`;
	}
}
