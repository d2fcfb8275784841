import { createInterface, type Interface } from "node:readline/promises";
import type { Client } from "@modelcontextprotocol/client";
import { Command, CommanderError } from "commander";
import { parseToolArguments } from "../../gateway/src/cli/tool-arguments.js";
import { addControls, type SimulatedControls, splitWords } from "../../virtual-device/src/index.js";
import { heading, line, lineWidth, paint, printAbove } from "./output.js";
import { complete, findTool, type OwnNames } from "./tool-names.js";
import { nameOf, showCall, showTools } from "./tour.js";

const COMMANDS = ["list", "call", "status", "press", "measure", "set", "say", "help", "quit"];

/** Characters for descriptions below which help is not wrapped into its columns. */
const MIN_HELP_WIDTH = 20;

/** What the prompt needs of the virtual device. */
interface PromptDevice {
	/** Its button and sensors. */
	readonly controls: SimulatedControls;
	readonly toolNames: OwnNames;
}

/**
 * Takes commands, as an MCP client of the gateway, until `quit` or the end of the input.
 *
 * @returns how many commands came, and how many of them failed
 */
export async function prompt(client: Client, device: PromptDevice): Promise<{ commands: number; failed: number }> {
	const isTerminal = process.stdin.isTTY === true;
	const terminal = createInterface({
		input: process.stdin,
		output: process.stdout,
		terminal: isTerminal,
		prompt: isTerminal ? paint("bold", "> ") : "",
		completer: async (text: string) => complete(text, COMMANDS, (await client.listTools()).tools, device.toolNames),
	});
	let commands = 0;
	let failed = 0;
	let quits = false;
	const quit = (): void => {
		quits = true;
	};
	if (isTerminal) {
		heading("Your turn");
		showHelp(makeCommands(client, device, quit));
		printAbove(terminal);
		terminal.prompt();
	}
	for await (const text of terminal) {
		if (text.trim() !== "") {
			commands += 1;
			failed += (await obey(makeCommands(client, device, quit), text)) ? 0 : 1;
		}
		if (quits) {
			break;
		}
		showPrompt(terminal, isTerminal);
	}
	printAbove(undefined);
	terminal.close();
	return { commands, failed };
}

function showPrompt(terminal: Interface, isTerminal: boolean): void {
	if (isTerminal) {
		terminal.prompt();
	}
}

/** @returns whether it could be done */
async function obey(commands: Command, text: string): Promise<boolean> {
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

function makeCommands(client: Client, device: PromptDevice, quit: () => void): Command {
	const { controls } = device;
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
		.action(() => showTools(client, device.toolNames));
	commands
		.command("call")
		.description("call a tool: call self.light.set on=true color=#ff8000")
		.argument("<tool>")
		.argument("[arguments...]", 'name=value …; quote values with spaces: question="What is this?"')
		.action((name: string, pairs: string[]) => call(client, device.toolNames, name, pairs));
	commands
		.command("status")
		.description("show the device's state")
		.action(async () => void (await showCall(client, await nameOf(client, /get_device_status$/), {})));
	addControls(commands, controls);
	commands.command("quit").alias("exit").description("stop the gateway and the device").action(quit);
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
