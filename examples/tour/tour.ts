import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "@modelcontextprotocol/client";
import type { Session } from "../../gateway/src/index.js";
import { event, heading, line, paint } from "../../virtual-device/src/prompt/output.js";
import { nameOf, showCall } from "../../virtual-device/src/prompt/show-tools.js";

/** Milliseconds between the assistant's first and last word, so that the states can be seen to change. */
const SPEECH = 200;

/** Milliseconds that a device may take to be idle again: one with a codec first plays what it has. */
const IDLE_TIME = 10_000;

/** Tools that the tour names; the command `list` shows all. */
const NAMED_TOOLS = 3;

/** Shows an MCP client's use of a device step by step: list, calls, and messages of the device. */
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

async function speak(session: Session): Promise<void> {
	const states: string[] = [];
	const isOver = new AbortController();
	const seen = (method: string, params: Readonly<Record<string, unknown>>): void => {
		if (method === "notifications/state_changed" && states.push(`${params.oldState} -> ${params.newState}`) === 2) {
			isOver.abort();
		}
	};
	session.on("notification", seen);
	session.sendMessage({ type: "tts", state: "start" });
	await delay(SPEECH);
	session.sendMessage({ type: "tts", state: "stop" });
	await delay(IDLE_TIME, undefined, { signal: isOver.signal }).catch(() => {});
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
