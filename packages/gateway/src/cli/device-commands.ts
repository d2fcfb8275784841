import type { Command } from "commander";
import type { DeviceSummary } from "../console/operator-routes.js";
import type { BindingSummary } from "../devices/bootstrap/bootstrap-routes.js";
import { printableLine } from "../printable.js";
import { type ClientFlags, clientFor } from "./gateway-client.js";
import { print, printTable } from "./output.js";

/** Adds the commands that bind new devices and tag known ones, below `devices`. */
export function addDeviceCommands(devices: Command): void {
	const changeTags = (name: string, description: string, change: (before: string[], tags: string[]) => string[]) =>
		devices
			.command(name)
			.description(description)
			.argument("<device>", "Alias or id")
			.argument("<tags...>", "Words in any script, such as rooms")
			.action(async (device: string, given: string[], _options, command: Command) => {
				const gateway = clientFor(command.optsWithGlobals<ClientFlags>());
				const { alias, tags: before } = await gateway.device(device);
				const json = { tags: change([...before], given) };
				const path = `/devices/${encodeURIComponent(alias)}`;
				const { tags } = await gateway.ask<DeviceSummary>(path, { method: "PATCH", json });
				print(tags.length === 0 ? `${alias} has no tags.` : `${alias} is tagged ${tags.join(", ")}.`);
			});
	devices
		.command("pending")
		.description("List devices that await approval")
		.action((_options, command: Command) => listPending(command.optsWithGlobals()));
	devices
		.command("approve")
		.description("Approve the device that shows this code, and give it a token")
		.argument("<code>")
		.action((code: string, _options, command: Command) => approve(code, command.optsWithGlobals()));
	devices
		.command("reject")
		.description("Reject the device that shows this code")
		.argument("<code>")
		.action((code: string, _options, command: Command) => reject(code, command.optsWithGlobals()));
	changeTags(
		"tag",
		"Add tags to a device: with catalog=groups, one call reaches all devices with a tag",
		(before, tags) => [...before, ...tags],
	);
	changeTags("untag", "Remove tags from a device", (before, tags) => before.filter((tag) => !tags.includes(tag)));
}

async function listPending(options: ClientFlags): Promise<void> {
	const { pending } = await clientFor(options).ask<{ pending: BindingSummary[] }>("/bindings");
	if (options.json) {
		print(JSON.stringify(pending, undefined, 2));
	} else if (pending.length === 0) {
		print("No devices await approval.");
	} else {
		const rows = pending.map(({ code, device, board, version, address, expires }) => {
			return [code, device, printableLine(`${board} ${version}`), address, expires];
		});
		printTable([["CODE", "ID", "BOARD", "ADDRESS", "UNTIL"], ...rows]);
	}
}

async function approve(code: string, options: ClientFlags): Promise<void> {
	const path = `/bindings/${encodeURIComponent(code)}`;
	const { device } = await clientFor(options).ask<{ device: string }>(path, { method: "POST" });
	print(`${device} bound.`);
}

async function reject(code: string, options: ClientFlags): Promise<void> {
	await clientFor(options).ask(`/bindings/${encodeURIComponent(code)}`, { method: "DELETE" });
	print(`Device with code ${printableLine(code)} rejected.`);
}
