import { createInterface } from "node:readline/promises";
import type { Device, DeviceHub } from "../gateway/src/index.js";
import { heading, line, paint } from "./output.js";
import { showCall, showTools } from "./tour.js";

const HELP = `  list                          the device's tools
  call TOOL [name=value …]      calls a tool: call self.audio_speaker.set_volume volume=30
  status                        the device's condition
  help
  quit`;

/** Takes a person's commands until they quit. */
export async function prompt(hub: DeviceHub): Promise<void> {
	heading("Your turn");
	console.log(HELP);
	const terminal = createInterface({ input: process.stdin, output: process.stdout, prompt: paint("bold", "> ") });
	terminal.prompt();
	for await (const command of terminal) {
		const [verb = "", ...words] = command.trim().split(/\s+/);
		if (verb === "quit" || verb === "exit") {
			break;
		}
		await obey(hub, verb, words).catch((error: Error) => line(paint("red", error.message)));
		terminal.prompt();
	}
	terminal.close();
}

async function obey(hub: DeviceHub, verb: string, [tool = "", ...pairs]: string[]): Promise<void> {
	switch (verb) {
		case "":
			return;
		case "list":
			return await showTools(theDevice(hub));
		case "status":
			return await showCall(theDevice(hub), "self.get_device_status", {});
		case "call":
			return await showCall(theDevice(hub), tool, parsePairs(pairs));
		case "help":
			return console.log(HELP);
		default:
			throw new Error(`${verb}: no such command, try help`);
	}
}

function theDevice(hub: DeviceHub): Device {
	const [device] = hub.devices;
	if (device === undefined) {
		throw new Error("the device is not connected at the moment; it comes back by itself");
	}
	return device;
}

/** name=value: a value that is JSON is taken as that, any other as a string. */
function parsePairs(pairs: readonly string[]): Record<string, unknown> {
	const args: Record<string, unknown> = {};
	for (const pair of pairs) {
		const [, name, value] = /^([^=]+)=(.*)$/.exec(pair) ?? [];
		if (name === undefined || value === undefined) {
			throw new Error(`${pair}: expected name=value`);
		}
		args[name] = parseValue(value);
	}
	return args;
}

function parseValue(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return text;
	}
}
