import { createInterface } from "node:readline";
import { type Command, InvalidArgumentError, Option } from "commander";
import { signInFolder } from "../config/sign-ins.js";
import { configurationFrom, withSettings } from "./configuration-options.js";
import { UsageError } from "./output.js";

/** Adds the commands for configured servers. A running gateway notices their changes. */
export function addServerCommands(program: Command): void {
	const servers = program.command("servers").description("Sign in at configured MCP servers");
	withSettings(servers.command("login"), ["stateFolder", "serversFile"])
		.description("Sign in at a server that uses OAuth, in a browser")
		.argument("<server>", "Its id in the servers file")
		.addOption(new Option("--port <port>", "Loopback port of the redirect (default: a free one)").argParser(readPort))
		.action(login);
	withSettings(servers.command("logout"), ["stateFolder"])
		.description("Forget the sign-in at a server")
		.argument("<server>", "Its id in the servers file")
		.action(logout);
}

function readPort(text: string): number {
	const port = Number(text);
	if (!/^[0-9]+$/.test(text) || port < 1 || port > 65_535) {
		throw new InvalidArgumentError("Expected a port from 1 to 65535.");
	}
	return port;
}

async function login(id: string, { port, ...settings }: { readonly port?: number }): Promise<void> {
	const { stateFolder, serversFile } = configurationFrom(settings);
	if (serversFile === undefined) {
		throw new UsageError("missing --servers-file: the file that configures the server");
	}
	// Loaded on use: other commands need no client of MCP.
	const { readServer, SignIns, signIn } = await import("xs-mcp-manager");
	const server = await readServer(serversFile, id);
	const terminal = process.stdin.isTTY ? createInterface({ input: process.stdin }) : undefined;
	try {
		const onAuthorize = (url: URL): void => {
			console.error(`Open this address in a browser:\n\n${url.href}\n`);
			terminal?.on("line", visit);
			if (terminal) {
				console.error("If the browser runs on another machine, paste the address of its last page here.");
			}
		};
		await signIn(server, new SignIns(signInFolder(stateFolder)), onAuthorize, port);
	} finally {
		terminal?.close();
	}
	console.log(`signed in at ${id}`);
}

/** Does what a browser on this machine would: visits the address to which it was redirected. */
function visit(line: string): void {
	const address = line.trim();
	if (!URL.canParse(address) || new URL(address).hostname !== "127.0.0.1") {
		console.error("Expected an address that begins with http://127.0.0.1:");
		return;
	}
	fetch(address).catch((error: Error) => console.error(error.message));
}

async function logout(id: string, settings: object): Promise<void> {
	const { SignIns } = await import("xs-mcp-manager");
	await new SignIns(signInFolder(configurationFrom(settings).stateFolder)).remove(id);
	console.log(`signed out of ${id}`);
}
