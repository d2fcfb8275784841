import type { Command } from "commander";
import { describeConfiguration } from "../config/configuration.js";
import type { ProxyFlags } from "../proxy/proxy-options.js";
import { type ClientOptions, withAddress, withCatalog } from "./client-commands.js";
import { configurationFrom, withSettings } from "./configuration-options.js";
import type { CatalogOptions } from "./gateway-client.js";
import type { EndpointCommandOptions } from "./run-endpoints.js";

/** Adds the commands that run until they are stopped, and `config`. */
export function addServeCommands(program: Command): void {
	withSettings(program.command("serve", { isDefault: true }))
		.description("Run the gateway (the default)")
		// A mistyped command comes here, since this is the default.
		.allowExcessArguments()
		.action(serve);
	withCatalog(withAddress(program.command("stdio")))
		.description("Connect one MCP client, over standard input and output, to a gateway that is running")
		.argument("[device]", "alias or id; default: all devices")
		.action(bridge);
	withSettings(withCatalog(withAddress(program.command("endpoint"))), ["endpoints", "endpointMaxBytes"])
		.description("Serve a gateway that is running to hosted agents: connect to their MCP endpoints")
		.argument("[urls...]", "wss://HOST/mcp/?token=…; the variable XS_MCP_GATEWAY_ENDPOINTS is safer")
		.option("--device <device>", "alias or id; default: all devices")
		.action(endpoint);
	addProxyCommand(program);
	withSettings(program.command("config"))
		.description("Print the settings that the gateway would use")
		.action(printSettings);
}

function addProxyCommand(program: Command): void {
	program
		.command("proxy")
		.description("Serve the tools of one MCP server over standard input and output, with a gate or without")
		.option("--upstream <url>", "URL of the upstream MCP server, or a command (MCP_UPSTREAM; its token: MCP_TOKEN)")
		.option("--name <name>", "name that the host sees (MCP_NAME; default: mcp-proxy)")
		.option("--skill <skill>", "skill to load before the tools can be called; empty: no gate (MCP_SKILL)")
		.option("--tools <names>", "tools that the host sees, separated by commas (MCP_TOOLS; default: *, all)")
		.option("--init-script <file>", "script that activate runs on the upstream (MCP_INIT_SCRIPT)")
		.option("--init-tool <tool>", "tool of the upstream that runs it (MCP_INIT_TOOL; default: execute_code)")
		.option("--no-init", "do not run the script (MCP_NO_INIT)")
		.action(proxy);
}

// Modules that run a gateway are loaded only when they are needed: the other commands start faster without them.

async function serve(settings: object, command: Command): Promise<void> {
	const { runGateway } = await import("./run-gateway.js");
	await runGateway(settings, command);
}

async function bridge(device: string | undefined, options: ClientOptions & CatalogOptions): Promise<void> {
	const { runBridge } = await import("./run-bridge.js");
	await runBridge(device, options);
}

async function endpoint(urls: readonly string[], options: EndpointCommandOptions): Promise<void> {
	const { runEndpoints } = await import("./run-endpoints.js");
	await runEndpoints(urls, options);
}

async function proxy(flags: ProxyFlags): Promise<void> {
	const { runProxy } = await import("./run-proxy.js");
	await runProxy(flags);
}

function printSettings(settings: object): void {
	process.stdout.write(`${JSON.stringify(describeConfiguration(configurationFrom(settings)), undefined, "\t")}\n`);
}
