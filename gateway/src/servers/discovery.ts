import { isSpecType } from "@modelcontextprotocol/server";
import pLimit from "p-limit";
import { isObject } from "../../../src/text/is-object.js";
import type { Device, DeviceTool } from "./device.js";
import type { Board } from "./known-device.js";

export interface IntroductionsOptions {
	/** Devices asked at the same time. */
	readonly concurrency: number;
	/** What is known of a device in this very session. */
	readonly boardOf: (device: Device) => Board | undefined;
	/** Hears what a device said. */
	readonly onLearned: (device: Device, board: Board, tools: readonly DeviceTool[]) => void;
	/** Hears of what went wrong. */
	readonly warn: (message: string) => void;
}

/** Asks devices who they are and what they can do: not too many at the same time, and each once at a time. */
export class Introductions {
	readonly #options: IntroductionsOptions;
	readonly #limit;
	/** Devices that are being asked; true when they have to be asked once more. */
	readonly #asked = new Map<Device, boolean>();
	#closed = false;

	constructor(options: IntroductionsOptions) {
		this.#options = options;
		this.#limit = pLimit(options.concurrency);
	}

	/** Asks a device, and once more when this is called meanwhile. One that gives no answer is sent away. */
	async ask(device: Device): Promise<void> {
		if (this.#asked.has(device)) {
			this.#asked.set(device, true);
			return;
		}
		try {
			do {
				this.#asked.set(device, false);
				await this.#limit(() => this.#askNow(device));
			} while (this.#asked.get(device) === true);
		} catch (error) {
			this.sendAway(device, `its tools could not be listed: ${(error as Error).message}`);
		} finally {
			this.#asked.delete(device);
		}
	}

	/** Ends a device's session. It may come back. */
	sendAway(device: Device, reason: string): void {
		if (device.connected) {
			this.#options.warn(`${device.identity.deviceId}: sent away: ${reason}`);
			device.close(reason);
		}
	}

	/** Asks no more. */
	close(): void {
		this.#closed = true;
	}

	async #askNow(device: Device): Promise<void> {
		const { boardOf, onLearned, warn } = this.#options;
		if (!device.connected || this.#closed) {
			return;
		}
		const board = boardOf(device) ?? (await askBoard(device));
		const tools = await askTools(device, warn);
		if (device.connected && !this.#closed) {
			onLearned(device, board, tools);
		}
	}
}

async function askBoard(device: Device): Promise<Board> {
	const { serverInfo } = await device.initialize();
	return { name: String(serverInfo.name), version: String(serverInfo.version) };
}

/**
 * Lists a device's tools, user-only ones included, and leaves out what hosts could not read: one tool that is none
 * would make a host refuse the whole list, other devices' tools with it.
 */
async function askTools(device: Device, warn: (message: string) => void): Promise<DeviceTool[]> {
	const tools = new Map<string, DeviceTool>();
	for (const tool of await device.listTools({ withUserTools: true })) {
		const readable = readableTool(tool);
		if (readable === undefined || tools.has(tool.name)) {
			warn(`${device.identity.deviceId}: tool ${JSON.stringify(tool.name)} left out: no MCP tool, or listed twice`);
		} else {
			tools.set(tool.name, readable);
		}
	}
	return [...tools.values()];
}

/** The members of a tool that MCP knows. A schema without a type, as devices send for "no arguments", is made one. */
function readableTool(tool: DeviceTool): DeviceTool | undefined {
	const { name, title, description, inputSchema, outputSchema, annotations, icons, _meta } = tool;
	const readable = {
		name,
		...(title !== undefined && { title }),
		...(description !== undefined && { description }),
		inputSchema: { type: "object", ...inputSchema },
		...(isObject(outputSchema) && { outputSchema }),
		...(annotations !== undefined && { annotations }),
		...(icons !== undefined && { icons }),
		...(_meta !== undefined && { _meta }),
	};
	return name !== "" && isSpecType.Tool(readable) ? (readable as DeviceTool) : undefined;
}
