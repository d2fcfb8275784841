import type { Device } from "../gateway/src/index.js";
import { describeResult, event, heading, line, paint } from "./output.js";

/** Milliseconds between the assistant's first and last word, so that the states can be seen to change. */
const SPEECH = 200;

const MAX_WORDS = 50;

/** What a backend does with a device, step by step: handshake, list, calls, state changes. */
export async function tour(device: Device): Promise<void> {
	heading("Handshake");
	line(`device  ${device.identity.deviceId} over ${device.identity.transport}, session ${device.sessionId}`);
	const { serverInfo, protocolVersion } = await device.initialize();
	line(`server  ${serverInfo.name} ${serverInfo.version}, MCP ${protocolVersion}`);
	await showTools(device);
	heading("Calls");
	await showCall(device, "self.get_device_status", {});
	await showCall(device, "self.audio_speaker.set_volume", { volume: 30 });
	await showCall(device, "self.get_device_status", {});
	await showCall(device, "self.audio_speaker.set_volume", { volume: 101 });
	heading("State changes: the backend speaks through the device");
	await speak(device);
}

/** Lists the tools as a table. */
export async function showTools(device: Device): Promise<void> {
	const tools = await device.listTools({ withUserTools: true });
	heading(`Tools (${tools.length})`);
	const width = Math.max(...tools.map(({ name }) => name.length));
	for (const { name, description = "", inputSchema, annotations } of tools) {
		const args = Object.keys((inputSchema.properties ?? {}) as object).join(", ");
		const audience = JSON.stringify(annotations ?? {}).includes('"user"') ? paint("yellow", " [user]") : "";
		line(`${paint("green", name.padEnd(width))} (${args})${audience} ${paint("dim", firstWords(description))}`);
	}
}

/** Enough of a description to tell tools apart. */
function firstWords(description: string): string {
	const sentence = description.split(/[.\n]/)[0] ?? "";
	return sentence.length > MAX_WORDS ? `${sentence.slice(0, MAX_WORDS)}…` : sentence;
}

/** Calls a tool and shows what it answers, or why it does not. */
export async function showCall(device: Device, name: string, args: object): Promise<void> {
	line(`${paint("bold", "->")} ${name} ${JSON.stringify(args)}`);
	try {
		line(`   ${describeResult(await device.callTool(name, args))}`);
	} catch (error) {
		const { message, code } = error as Error & { code?: unknown };
		line(`   ${paint("red", `error ${String(code)}: ${message}`)}`);
	}
}

async function speak(device: Device): Promise<void> {
	const states: string[] = [];
	const seen = (method: string, params: Readonly<Record<string, unknown>>): void => {
		if (method === "notifications/state_changed") {
			states.push(`${params.oldState} -> ${params.newState}`);
		}
	};
	device.on("notification", seen);
	device.send({ type: "tts", state: "start" });
	await new Promise((resolve) => setTimeout(resolve, SPEECH));
	device.send({ type: "tts", state: "stop" });
	// The answer to a ping comes after whatever the device had to say before.
	await device.ping();
	device.off("notification", seen);
	if (states.length < 2) {
		throw new Error(`expected two state changes, saw ${states.join(", ") || "none"}`);
	}
}

/** Shows what the device says by itself, from now on. */
export function showEvents(device: Device): void {
	device.on("notification", (method, params) => event(`${method} ${JSON.stringify(params)}`));
	device.once("closed", (reason) => event(`device ${device.identity.deviceId} is gone: ${reason}`));
}
