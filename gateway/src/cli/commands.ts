import type { Command } from "commander";
import type { ClusterStatus } from "../cluster/status.js";
import { withAddress } from "./address-options.js";
import { addClientCommands } from "./client-commands.js";
import { addBindingCommands, addTagCommands } from "./device-commands.js";
import { addFirmwareCommands } from "./firmware-commands.js";
import { type ClientOptions, clientFor } from "./gateway-client.js";
import { print, printTable } from "./output.js";
import { addServeCommands } from "./serve.js";
import { addServerCommands } from "./server-commands.js";
import { addTokenCommands } from "./token-commands.js";

/** Adds every command. */
export function addCommands(program: Command): void {
	addServeCommands(program);
	const devices = addClientCommands(program);
	addBindingCommands(devices);
	addTagCommands(devices);
	addFirmwareCommands(program);
	addClusterCommands(program);
	addTokenCommands(program);
	addServerCommands(program);
}

/** Adds the command `cluster status`. */
function addClusterCommands(program: Command): void {
	const cluster = program.command("cluster").description("Inspect a cluster of gateways");
	withAddress(cluster.command("status"))
		.description("List the gateways of the cluster")
		.option("--json", "Print JSON")
		.action(showStatus);
}

async function showStatus(options: ClientOptions): Promise<void> {
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
