import type { Command } from "commander";
import { type ProxyFlags, readProxyOptions } from "./proxy-options.js";

/**
 * Turns a command into one that serves an upstream MCP server over standard input and output, until the host
 * disconnects.
 */
export function addProxyOptions(command: Command): Command {
	const collect = (value: string, earlier: readonly string[] = []): readonly string[] => [...earlier, value];
	return command
		.description("Serve one MCP server over standard input and output, optionally locked until a skill is loaded")
		.option("--upstream <url>", "URL of the upstream MCP server, or a command (MCP_UPSTREAM; its token: MCP_TOKEN)")
		.option(
			"--header <header>",
			"HTTP header 'Name: value' for the upstream (repeatable; in MCP_HEADERS one per line)",
			collect,
		)
		.option(
			"--env <name>",
			"Variable for an upstream that is a command: NAME, or NAME=value (repeatable; MCP_ENV)",
			collect,
		)
		.option("--pass-env", "Pass all variables to an upstream that is a command (MCP_PASS_ENV)")
		.option("--name <name>", "Name that the host sees (MCP_NAME; default: mcp-proxy)")
		.option("--skill <skill>", "Skill to load before the tools can be called; empty: none (MCP_SKILL)")
		.option("--tools <names>", "Tools that the host sees, separated by commas (MCP_TOOLS; default: *, all)")
		.option(
			"--connect-timeout <ms>",
			"Time limit for a slow upstream to connect, to list and to answer pings (MCP_CONNECT_TIMEOUT; default: 3 to 10 s)",
		)
		.option("--init-script <file>", "Script that activate runs on the upstream (MCP_INIT_SCRIPT)")
		.option("--init-tool <tool>", "Tool of the upstream that runs the script (MCP_INIT_TOOL; default: execute_code)")
		.option("--no-init", "Do not run the script (MCP_NO_INIT)")
		.action(runProxy);
}

/** Ends the process with 0 when the host has disconnected. Rejects with CommanderError, exit code 2, if an option is invalid. */
async function runProxy(flags: ProxyFlags, command: Command): Promise<void> {
	const name = (command.parent ?? command).name();
	let options: ReturnType<typeof readProxyOptions>;
	try {
		options = readProxyOptions(flags, process.env);
	} catch (error) {
		return command.error(`${name}: ${(error as Error).message}`, { exitCode: 2 });
	}
	const report = ({ message }: Error): void => console.error(`${name}: ${message}`);
	if (options.init !== undefined && options.skill === "") {
		report(new Error("--init-script has no effect without --skill: activate runs it"));
	}
	// Loaded on demand, so that --help starts faster.
	const { serveProxy } = await import("./serve-proxy.js");
	await serveProxy(options, report);
	process.exit(0);
}
