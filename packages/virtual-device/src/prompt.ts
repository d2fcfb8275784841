import { createInterface } from "node:readline/promises";
import type { Client, Tool } from "@modelcontextprotocol/client";
import { Command, CommanderError } from "commander";
import { parseToolArguments } from "xs-mcp-gateway/tool-arguments";
import { readAction } from "./actions.js";
import { heading, line, lineWidth, paint, printAbove } from "./prompt-output.js";
import { complete, findTool, nameOf, type OwnNames, showCall, showTools, splitWords } from "./tool-names.js";
import type { VirtualDevice } from "./virtual-device.js";

/**
 * Reads an input and its level, or readings of a sensor, as {@link readAction} takes them.
 *
 * @throws Error if there is no level
 */
function readInput({ chips }: VirtualDevice, words: readonly string[]): object {
	const [name = "", ...level] = words[0] === "pin" ? [words.slice(0, 2).join(" "), ...words.slice(2)] : words;
	if (level.length === 0) {
		throw new Error("set: expected an input and its level: soil 1800, door on, pin 34 1800, air temperature=30");
	}
	if (!chips.some(({ part }) => part === name) || !level.every((word) => word.includes("="))) {
		return { [name]: level.join(" ") };
	}
	const readings = level.map((word) => word.split("="));
	return { [name]: Object.fromEntries(readings.map(([reading, value]) => [reading, Number(value)])) };
}

/** Adds the commands for a device's controls, at the prompt of `npm run device` and of `npm start`. */
export function addControls(commands: Command, device: VirtualDevice): Command {
	const act = async (name: string, value: unknown): Promise<void> => await readAction(name, value, [name])(device);
	commands
		.command("press")
		.description("press the device's button: it listens, until the next press")
		.argument("[milliseconds]", "how long; a press of 2000 or more is a long one")
		.action(async (time?: string) => await act("press", time && Number(time)));
	commands
		.command("measure")
		.description("set a sensor of the device: temperature 30, light 500, motion 0 9.8 0")
		.argument("<sensor>")
		.argument("<values...>", "one number, or three for motion: along x, y and z")
		.action(async (sensor: string, values: string[]) => {
			const [x, y, z, ...more] = values.map(Number);
			const isOne = y === undefined && sensor !== "motion";
			await act("measure", { [sensor]: isOne ? x : { x, y, z, ...more } });
		});
	commands
		.command("set")
		.description("set an input or sensor of a device of your own: soil 1800, door on, pin 34 1800, air temperature=30")
		.argument(
			"<input...>",
			"the part's name or the pin, and a number, on or off; a line for a serial port; readings of a sensor",
		)
		.action(async (words: string[]) => await act("set", readInput(device, words)));
	commands
		.command("say")
		.description("say a text to the backend's assistant; the gateway has none")
		.argument("<text...>")
		.allowUnknownOption()
		.action(async (words: string[]) => await act("say", words.join(" ")));
	return commands;
}

const COMMANDS = ["list", "call", "status", "press", "measure", "set", "say", "help", "quit"];

/** Characters for descriptions below which help is not wrapped into its columns. */
const MIN_HELP_WIDTH = 20;

/**
 * The prompt of a virtual device: takes commands until `quit` or the end of the input.
 *
 * @param connect returns an MCP client that calls the tools. It is not closed here
 * @param device the device that commands control
 * @param quits describes `quit`
 * @returns the number of commands, and how many of them failed
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
		lines(commandsOf().helpInformation());
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
