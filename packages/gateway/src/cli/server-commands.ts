import { createInterface } from "node:readline";
import type { Command } from "commander";
import type { DeviceSummary } from "../console/operator-routes.js";
import type { BindingSummary } from "../devices/bootstrap/bootstrap-routes.js";
import type { FirmwareOffer } from "../devices/firmware/firmware-route.js";
import { UPGRADE_TOOL } from "../devices/firmware/firmware-updates.js";
import { GatewayError } from "../gateway-error.js";
import { signInFolder } from "../mcp/plugin.js";
import { printableLine } from "../printable.js";
import { configurationToWrite, withSettings } from "./configuration-options.js";
import { type ClientFlags, clientFor, numberUpTo, withAddress } from "./gateway-client.js";
import { print, printTable } from "./output.js";

/** Adds the commands for configured servers. A running gateway notices their changes. */
export function addServerCommands(program: Command): void {
	const servers = program.command("servers").description("Sign in at configured MCP servers");
	withSettings(servers.command("login"), ["stateFolder", "serversFile"])
		.description("Sign in at a server that uses OAuth, in a browser")
		.argument("<server>", "Its id in the servers file")
		.option("--port <port>", "Loopback port of the redirect (default: a free one)", numberUpTo(65_535, "a port"))
		.action(login);
	withSettings(servers.command("logout"), ["stateFolder"])
		.description("Forget the sign-in at a server")
		.argument("<server>", "Its id in the servers file")
		.action(logout);
}

async function login(id: string, { port, ...settings }: { readonly port?: number }): Promise<void> {
	const { stateFolder, serversFile } = configurationToWrite(settings);
	if (serversFile === undefined) {
		throw new GatewayError("usage", "missing --servers-file: the file that configures the server");
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
	const { stateFolder } = configurationToWrite(settings);
	const { SignIns } = await import("xs-mcp-manager");
	await new SignIns(signInFolder(stateFolder)).remove(id);
	console.log(`signed out of ${id}`);
}

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
		.action(async (code: string, _options, command: Command) => {
			const { device } = await askForBinding<{ device: string }>(code, "POST", command);
			print(`${device} bound.`);
		});
	devices
		.command("reject")
		.description("Reject the device that shows this code")
		.argument("<code>")
		.action(async (code: string, _options, command: Command) => {
			await askForBinding(code, "DELETE", command);
			print(`Device with code ${printableLine(code)} rejected.`);
		});
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

function askForBinding<Answer>(code: string, method: string, command: Command): Promise<Answer> {
	return clientFor(command.optsWithGlobals<ClientFlags>()).ask(`/bindings/${encodeURIComponent(code)}`, { method });
}

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
		throw new GatewayError("usage", "expected a device or --all, not both");
	}
	if (device !== undefined) {
		print(await pushTo(device, options));
		return;
	}
	// Configured servers have other transports, and no firmware.
	const devices = (await clientFor(options).devices()).filter(({ transport }) =>
		/^(websocket|mqtt)$/.test(transport ?? ""),
	);
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
