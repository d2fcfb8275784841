import type { Command } from "commander";
import type { FirmwareOffer } from "../devices/firmware/firmware-offers.js";
import { UPGRADE_TOOL } from "../devices/firmware/firmware-updates.js";
import { printableLine } from "../printable.js";
import { withAddress } from "./address-options.js";
import { type ClientFlags, clientFor } from "./gateway-client.js";
import { print, UsageError } from "./output.js";

interface PushFlags extends ClientFlags {
	readonly all?: boolean;
	/** Absent: the newest, on devices that run an older one. */
	readonly version?: string;
}

/** Adds the command that has devices install firmware: `firmware push DEVICE`, `firmware push --all`. */
export function addFirmwareCommands(program: Command): void {
	const firmware = program.command("firmware").description("Update the firmware of devices");
	withAddress(firmware.command("push"))
		.description(`Install firmware of firmwareFolder on a device, by its user-only tool ${UPGRADE_TOOL}`)
		.argument("[device]", "Alias or id")
		.option("--all", "Every device that is online")
		.option("--version <version>", "Version to install, even an older one (default: the newest, if it is newer)")
		.action(push);
}

async function push(device: string | undefined, options: PushFlags): Promise<void> {
	if ((device === undefined) !== (options.all === true)) {
		throw new UsageError("expected a device or --all, not both");
	}
	if (device !== undefined) {
		print(await pushTo(device, options));
		return;
	}
	const devices = (await clientFor(options).devices()).filter(({ connected }) => connected);
	let failed = 0;
	for (const { alias } of devices) {
		try {
			print(await pushTo(alias, options));
		} catch (error) {
			failed += 1;
			console.error(printableLine(`${alias}: ${(error as Error).message}`));
		}
	}
	if (failed > 0) {
		throw new Error(`${failed} of ${devices.length} devices failed`);
	}
}

/** Settles with the outcome when the device has installed the firmware and restarts. */
async function pushTo(name: string, { version, ...options }: PushFlags): Promise<string> {
	const { callOn, findTool, toolsOf } = await import("./tool-commands.js");
	const { textOf } = await import("xs-mcp-manager/core");
	const { gateway, device, tools } = await toolsOf(name, options);
	const tool = findTool(UPGRADE_TOOL, device, tools);
	const json = { version };
	const path = `/devices/${encodeURIComponent(device.alias)}/firmware`;
	const offer = await gateway.ask<Partial<FirmwareOffer>>(path, { method: "POST", json });
	if (offer.version === undefined) {
		return `${device.alias} runs ${device.board.version}: no newer firmware for ${device.board.name}.`;
	}
	// The C++ firmware accepts only a URL.
	const known = Object.entries(offer).filter(([key]) => key in (tool.inputSchema.properties ?? {}));
	const { content, isError } = await callOn(gateway, device, tool, Object.fromEntries(known));
	if (isError) {
		throw new Error(`firmware ${offer.version}: ${textOf(content)}`);
	}
	return `${device.alias} restarts into ${offer.version}. xs-mcp-gateway watch shows whether it stays.`;
}
