import type { Command } from "commander";
import { addProxyOptions } from "xs-mcp-manager/proxy";
import type { ClusterStatus } from "../cluster/cluster.js";
import { describeConfiguration } from "../config/configuration.js";
import { addBridgeCommand } from "./bridge-command.js";
import { addClientCommands } from "./client-commands.js";
import { configurationFrom, configurationToWrite, withSettings } from "./configuration-options.js";
import { type ClientFlags, clientFor, withAddress, withCatalog } from "./gateway-client.js";
import { print, printTable } from "./output.js";
import type { EndpointFlags } from "./run-endpoints.js";
import { addDeviceCommands, addFirmwareCommands, addServerCommands } from "./server-commands.js";
import { addTokenCommands } from "./token-commands.js";

/** Adds every command. */
export function addCommands(program: Command): void {
	addServeCommands(program);
	addDeviceCommands(addClientCommands(program));
	addFirmwareCommands(program);
	const cluster = program.command("cluster").description("Inspect a cluster of gateways, or import into it");
	withAddress(cluster.command("status"))
		.description("List the gateways of the cluster")
		.option("--json", "Print JSON")
		.action(showStatus);
	withSettings(cluster.command("import"))
		.description("Copy what a state folder has into the store of the cluster; what the cluster has stays")
		.action(async (settings: object) => {
			const { importIntoCluster } = await import("./run-gateway.js");
			await importIntoCluster(configurationToWrite(settings));
		});
	addTokenCommands(program);
	addServerCommands(program);
}

async function showStatus(options: ClientFlags): Promise<void> {
	const status = await clientFor(options).ask<ClusterStatus>("/cluster");
	if (options.json) {
		print(JSON.stringify(status, undefined, "\t"));
		return;
	}
	const rows = status.gateways.map(({ name, version, since, devices, clients, calls, draining }) => [
		name,
		version,
		since,
		...[devices, clients, calls].map(String),
		draining ? "stopping" : name === status.name ? "this one" : "",
	]);
	printTable([["GATEWAY", "VERSION", "SINCE", "DEVICES", "CLIENTS", "REMOTE CALLS", ""], ...rows]);
	if (!status.connected) {
		print(`${status.name} is not connected to NATS: its data about other gateways may be stale.`);
	}
}

/** Adds the commands that run until they are stopped, and `config`. Their modules are loaded on demand, so that others start faster. */
function addServeCommands(program: Command): void {
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
		.action(async (urls: readonly string[], options: EndpointFlags) => {
			const { runEndpoints } = await import("./run-endpoints.js");
			await runEndpoints(urls, options);
		});
	addProxyOptions(program.command("proxy"));
	withSettings(program.command("config"))
		.description("Print the effective settings")
		.action((settings: object) => {
			process.stdout.write(`${JSON.stringify(describeConfiguration(configurationFrom(settings)), undefined, "\t")}\n`);
		});
}
