import { createInterface } from "node:readline/promises";
import type { Client } from "@modelcontextprotocol/client";
import { parseToolArguments } from "../../gateway/src/cli/tool-arguments.js";
import { heading, line, paint } from "./output.js";
import { nameOf, showCall, showTools } from "./tour.js";

const HELP = `  list                          the tools of every device
  call TOOL [name=value …]      calls one, by its name in the list
  status                        the first device's condition
  help
  quit`;

/** Takes a person's commands, as an MCP host of every device, until they quit. */
export async function prompt(host: Client): Promise<void> {
	heading("Your turn");
	console.log(HELP);
	const terminal = createInterface({ input: process.stdin, output: process.stdout, prompt: paint("bold", "> ") });
	terminal.prompt();
	for await (const command of terminal) {
		const [verb = "", ...words] = command.trim().split(/\s+/);
		if (verb === "quit" || verb === "exit") {
			break;
		}
		await obey(host, verb, words).catch((error: Error) => line(paint("red", error.message)));
		terminal.prompt();
	}
	terminal.close();
}

async function obey(host: Client, verb: string, [tool = "", ...pairs]: string[]): Promise<void> {
	switch (verb) {
		case "":
			return;
		case "list":
			return await showTools(host);
		case "status":
			return await showCall(host, await nameOf(host, /get_device_status$/), {});
		case "call":
			return await call(host, tool, pairs);
		case "help":
			return console.log(HELP);
		default:
			throw new Error(`${verb}: no such command, try help`);
	}
}

async function call(host: Client, name: string, pairs: readonly string[]): Promise<void> {
	const { tools } = await host.listTools();
	const tool = tools.find((each) => each.name === name);
	if (tool === undefined) {
		throw new Error(`${name}: no such tool, try list`);
	}
	await showCall(host, name, parseToolArguments(tool.inputSchema, pairs));
}
