#!/usr/bin/env node
import { Command, CommanderError } from "commander";
import { EXIT, GatewayError } from "../gateway-error.js";
import { printable } from "../printable.js";
import { GATEWAY_INFO } from "../version.js";
import { addBridgeCommand } from "./bridge-command.js";

const EPILOGUE = `
Settings: flags (--http-port) override environment variables (XS_MCP_GATEWAY_HTTP_PORT), which override the file
xs-mcp-gateway.json ("httpPort"). List all settings: xs-mcp-gateway serve --help`;

/** Columns of help that goes to a file or program. */
const PIPED_HELP_WIDTH = 160;

await runCommandLine(process.argv.slice(2));

/** Runs one command line, without the program's name. Sets the process's exit code: 0 ok, 1 failed, 2 wrong usage. */
async function runCommandLine(args: readonly string[]): Promise<void> {
	// The reader of an output may end first: `xs-mcp-gateway --help | head`.
	for (const output of [process.stdout, process.stderr]) {
		output.on("error", ({ code }: NodeJS.ErrnoException) => {
			if (code !== "EPIPE") {
				process.exitCode = EXIT.failed;
			}
		});
	}
	const program = new Command("xs-mcp-gateway")
		.description("Serves devices that run xs-mcp to MCP clients")
		.version(GATEWAY_INFO.version, "-V, --version", "Show the version")
		.helpOption("-h, --help", "Show help")
		.helpCommand("help [command]", "Show help for a command")
		.configureHelp({ showGlobalOptions: true })
		.configureOutput({ getOutHelpWidth: () => process.stdout.columns ?? PIPED_HELP_WIDTH })
		.addHelpText("after", EPILOGUE)
		.exitOverride();
	if (args[0] === "stdio") {
		// Hosts start a bridge for each chat: it does without the modules of other commands.
		addBridgeCommand(program);
	} else {
		const { addCommands } = await import("./commands.js");
		addCommands(program);
	}
	nameHelpAfterErrors(program, program.name());
	// After the commands, which would inherit it: their --version differs.
	program.enablePositionalOptions();
	try {
		await program.parseAsync([...args], { from: "user" });
	} catch (error) {
		// Commander has printed its own.
		if (error instanceof CommanderError) {
			process.exitCode = error.exitCode === 0 ? EXIT.ok : EXIT.usage;
			return;
		}
		for (const line of (error as Error).message.split("\n")) {
			console.error(`xs-mcp-gateway: ${printable(line)}`);
		}
		process.exitCode = error instanceof GatewayError ? (error.effect.exit ?? EXIT.failed) : EXIT.failed;
	}
}

/** After an error of the command line, such as an unknown option, its command's help is named. */
function nameHelpAfterErrors(command: Command, words: string): void {
	command.showHelpAfterError(`See ${words} --help`);
	for (const each of command.commands) {
		nameHelpAfterErrors(each, `${words} ${each.name()}`);
	}
}
