import type { CallToolResult, Client, Progress } from "@modelcontextprotocol/client";
import { PATIENCE } from "../../gateway/src/cli/gateway-transport.js";
import type { Session } from "../../gateway/src/index.js";
import { describeResult, entry, event, heading, line, paint } from "./output.js";
import { type OwnNames, shownName } from "./tool-names.js";

/** Milliseconds between the assistant's first and last word, so that the states can be seen to change. */
const SPEECH = 200;

/** Tools that the tour names; the command `list` shows all. */
const NAMED_TOOLS = 3;

/** What an MCP client does with a device, step by step: list, calls; and what the device says by itself. */
export async function tour(client: Client, session: Session): Promise<void> {
	const { tools } = await client.listTools();
	line(`client   the official SDK's, MCP ${client.getNegotiatedProtocolVersion() ?? ""}`);
	const names = tools.slice(0, NAMED_TOOLS).map(({ name }) => paint("green", name));
	line(`tools    ${names.join(", ")} and ${tools.length - names.length} more`);
	heading("The client calls the device's tools");
	const status = await nameOf(client, /get_device_status$/);
	// A device of one's own may have no speaker.
	const volume = tools.find(({ name }) => /set_volume$/.test(name))?.name;
	if (volume !== undefined) {
		await showCall(client, volume, { volume: 30 });
	}
	await showCall(client, status, {});
	if (volume !== undefined) {
		line(paint("dim", "A wrong call, on purpose: the device says what is wrong."));
		await showCall(client, volume, { volume: 101 });
	}
	heading("The device reports its state: here the backend speaks through it");
	await speak(session);
}

/** Lists the tools as a table. */
export async function showTools(client: Client, own: OwnNames): Promise<void> {
	const { tools } = await client.listTools();
	heading(`Tools (${tools.length})`);
	const width = Math.max(...tools.map((tool) => shownName(tool, own).length));
	for (const tool of tools) {
		const { description = "", inputSchema } = tool;
		const args = Object.keys(inputSchema.properties ?? {}).join(", ");
		entry(shownName(tool, own), width, `(${args}) ${paint("dim", firstSentence(description))}`);
	}
}

/** The listed name of a tool, whatever is put before it. */
export async function nameOf(client: Client, pattern: RegExp): Promise<string> {
	const { tools } = await client.listTools();
	const tool = tools.find(({ name }) => pattern.test(name));
	if (tool === undefined) {
		throw new Error(`no tool is called ${String(pattern)}`);
	}
	return tool.name;
}

/** Enough of a description to tell tools apart. */
function firstSentence(description: string): string {
	return /^.*?(?=\.(?:\s|$)|\n|$)/.exec(description)?.[0] ?? "";
}

/**
 * Calls a tool and shows what it answers, or why it does not.
 *
 * @returns whether the tool did it
 */
export async function showCall(client: Client, name: string, args: Record<string, unknown>): Promise<boolean> {
	line(`${paint("bold", "->")} ${name} ${JSON.stringify(args)}`);
	try {
		// With progress, an update of the firmware is answered when it is installed, or has failed.
		const options = { ...PATIENCE, onprogress: showProgress };
		const result = (await client.callTool({ name, arguments: args }, options)) as CallToolResult;
		line(`   ${await describeResult(result)}`);
		return result.isError !== true;
	} catch (error) {
		const { message, code } = error as Error & { code?: unknown };
		line(`   ${paint("red", `error ${String(code)}: ${message}`)}`);
		return false;
	}
}

function showProgress({ progress, total }: Progress): void {
	event(total === undefined ? `progress: ${progress}` : `progress: ${progress} of ${total}`);
}

async function speak(session: Session): Promise<void> {
	const states: string[] = [];
	const seen = (method: string, params: Readonly<Record<string, unknown>>): void => {
		if (method === "notifications/state_changed") {
			states.push(`${params.oldState} -> ${params.newState}`);
		}
	};
	session.on("notification", seen);
	session.sendMessage({ type: "tts", state: "start" });
	await new Promise((resolve) => setTimeout(resolve, SPEECH));
	session.sendMessage({ type: "tts", state: "stop" });
	// The answer to a ping comes after whatever the device had to say before.
	await session.ping();
	session.off("notification", seen);
	if (states.length < 2) {
		throw new Error(`expected two state changes, saw ${states.join(", ") || "none"}`);
	}
}

/** Shows what the device says by itself, from now on until the end. */
export function showEvents(alias: string, session: Session, end: AbortSignal): void {
	session.on("notification", (method, params) => event(`${method} ${JSON.stringify(params)}`));
	session.once("closed", (reason) => end.aborted || event(`device ${alias} is offline: ${reason}`));
}
