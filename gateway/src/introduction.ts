import { isSpecType } from "@modelcontextprotocol/server";
import { isObject } from "../../src/text/is-object.js";
import type { Device, DeviceTool } from "./device.js";
import type { Board } from "./known-device.js";

/** Asks a device who it is, and opens its MCP session. Rejects as {@link Device.initialize} does. */
export async function askBoard(device: Device): Promise<Board> {
	const { serverInfo } = await device.initialize();
	return { name: String(serverInfo.name), version: String(serverInfo.version) };
}

/**
 * Lists a device's tools, user-only ones included, and leaves out what hosts could not read: one tool that is none
 * would make a host refuse the whole list, other devices' tools with it.
 *
 * @param warn hears of what was left out
 */
export async function askTools(device: Device, warn: (message: string) => void): Promise<DeviceTool[]> {
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
