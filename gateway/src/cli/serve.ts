import type { Command } from "commander";
import { addProxyOptions } from "xs-mcp-manager/proxy";
import { describeConfiguration } from "../config/configuration.js";
import { withAddress, withCatalog } from "./address-options.js";
import { addBridgeCommand } from "./bridge-command.js";
import { configurationFrom, withSettings } from "./configuration-options.js";
import type { EndpointCommandOptions } from "./run-endpoints.js";

/** Adds the commands that run until they are stopped, and `config`. Their modules are loaded on demand, so that others start faster. */
export function addServeCommands(program: Command): void {
	withSettings(program.command("serve", { isDefault: true }))
		.description("Run the gateway (the default)")
		// A mistyped command arrives here, because this is the default command.
		.allowExcessArguments()
		.action(async (settings: object, command: Command) => {
			const { runGateway } = await import("./run-gateway.js");
			await runGateway(settings, command);
		});
	addBridgeCommand(program);
	withSettings(withCatalog(withAddress(program.command("endpoint"))), ["endpoints"])
		.description("Serve a running gateway to hosted agents: connect to their MCP endpoints")
		.argument("[urls...]", "wss://HOST/mcp/?token=…; the variable XS_MCP_GATEWAY_ENDPOINTS is safer")
		.option("--device <device>", "Alias or id; default: all devices")
		.action(async (urls: readonly string[], options: EndpointCommandOptions) => {
			const { runEndpoints } = await import("./run-endpoints.js");
			await runEndpoints(urls, options);
		});
	addProxyOptions(program.command("proxy"));
	withSettings(program.command("config")).description("Print the effective settings").action(printSettings);
}

function printSettings(settings: object): void {
	process.stdout.write(`${JSON.stringify(describeConfiguration(configurationFrom(settings)), undefined, "\t")}\n`);
}
