import { createInterface } from "node:readline/promises";
import type { Client, Tool } from "@modelcontextprotocol/client";
import { Command, CommanderError } from "commander";
import { parseToolArguments } from "xs-mcp-gateway/tool-arguments";
import { addControls } from "./controls.js";
import { heading, line, lineWidth, paint, printAbove } from "./prompt-output.js";
import { complete, findTool, nameOf, type OwnNames, showCall, showTools, splitWords } from "./tool-names.js";
import type { VirtualDevice } from "./virtual-device.js";

const COMMANDS = ["list", "call", "status", "press", "measure", "set", "say", "help", "quit"];

/** Characters for descriptions below which help is not wrapped into its columns. */
const MIN_HELP_WIDTH = 20;

/**
 * The prompt of a virtual device: takes commands until `quit` or the end of the input.
 *
 * @param connect returns an MCP client that calls the tools. It stays the caller's
 * @param device the device that commands control
 * @param quits describes `quit`
 * @returns how many commands came, and how many of them failed
 */
export async function prompt(
	connect: () => Promise<Client>,
	device: VirtualDevice,
	toolNames: () => OwnNames,
	quits: string,
): Promise<{ commands: number; failed: number }> {
	const isTerminal = process.stdin.isTTY === true;
	const terminal = createInterface({
		input: process.stdin,
		output: process.stdout,
		terminal: isTerminal,
		prompt: isTerminal ? paint("bold", "> ") : "",
		completer: async (text: string) => complete(text, COMMANDS, await toolsOf(connect), toolNames()),
	});
	let commands = 0;
	let failed = 0;
	let hasQuit = false;
	const quit = (): void => {
		hasQuit = true;
	};
	const commandsOf = (): Command => makeCommands(connect, device, toolNames, quits, quit);
	if (isTerminal) {
		heading("Your turn");
		showHelp(commandsOf());
		printAbove(terminal);
		terminal.prompt();
	}
	for await (const text of terminal) {
		if (text.trim() !== "") {
			commands += 1;
			failed += (await runCommand(commandsOf(), text)) ? 0 : 1;
		}
		if (hasQuit) {
			break;
		}
		if (isTerminal) {
			terminal.prompt();
		}
	}
	printAbove(undefined);
	terminal.close();
	return { commands, failed };
}

/** @returns whether it succeeded */
async function runCommand(commands: Command, text: string): Promise<boolean> {
	try {
		await commands.parseAsync(splitWords(text), { from: "user" });
		return true;
	} catch (error) {
		if (error instanceof CommanderError) {
			return error.exitCode === 0;
		}
		line(paint("red", (error as Error).message));
		return false;
	}
}

/** None if no client can be connected now: a command would say why. */
async function toolsOf(connect: () => Promise<Client>): Promise<Tool[]> {
	return await connect().then(
		async (client) => (await client.listTools()).tools,
		() => [],
	);
}

function makeCommands(
	connect: () => Promise<Client>,
	device: VirtualDevice,
	toolNames: () => OwnNames,
	quits: string,
	quit: () => void,
): Command {
	const commands = new Command("")
		.configureHelp({ commandUsage: usageOf, minWidthToWrap: MIN_HELP_WIDTH })
		.helpOption(false)
		.exitOverride()
		.configureOutput({
			writeOut: lines,
			writeErr: (text) => lines(paint("red", text)),
			getOutHelpWidth: lineWidth,
			getErrHelpWidth: lineWidth,
		});
	commands
		.command("list")
		.description("list the tools")
		.action(async () => showTools(await connect(), toolNames()));
	commands
		.command("call")
		.description("call a tool: call self.light.set on=true color=#ff8000")
		.argument("<tool>")
		.argument("[arguments...]", 'name=value …; quote values with spaces: question="What is this?"')
		.action(async (name: string, pairs: string[]) => call(await connect(), toolNames(), name, pairs));
	commands
		.command("status")
		.description("show the device's state")
		.action(async () => {
			const client = await connect();
			await showCall(client, await nameOf(client, /get_device_status$/), {});
		});
	addControls(commands, device);
	commands.command("quit").alias("exit").description(quits).action(quit);
	return commands;
}

function usageOf(command: Command): string {
	return command.parent === null ? "COMMAND" : `${command.name()} ${command.usage()}`.trim();
}

function showHelp(commands: Command): void {
	lines(commands.helpInformation());
}

function lines(text: string): void {
	for (const each of text.trimEnd().split("\n")) {
		line(each);
	}
}

async function call(client: Client, own: OwnNames, name: string, pairs: readonly string[]): Promise<void> {
	const tool = findTool((await client.listTools()).tools, name, own);
	if (!(await showCall(client, tool.name, parseToolArguments(tool.inputSchema, pairs)))) {
		throw new CommanderError(1, "call-failed", "shown already");
	}
}
