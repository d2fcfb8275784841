import { jsonIn } from "xs-mcp-manager/core";
import * as z from "zod";
import { LIGHT_PREFIX, SWITCH_PREFIX, TOOLS } from "./discovery.js";

/** Bytes of a command: Home Assistant's have about 80. */
const MAX_COMMAND = 1_024;

const CHANNEL = z.int().min(0).max(255);
const LIGHT_COMMAND = z.object({
	state: z.enum(["ON", "OFF"]),
	brightness: z.int().optional(),
	color: z.object({ r: CHANNEL, g: CHANNEL, b: CHANNEL }).optional(),
});

/** A call of a device's tool. */
export interface ToolCall {
	readonly tool: string;
	readonly args: object;
}

/**
 * Reads a command of Home Assistant's. The tool's schema checks the ranges.
 *
 * @param part of the device, as in the command's topic
 * @throws Error if the command is malformed
 */
export function readCommand(part: string, payload: Buffer): ToolCall {
	if (payload.length > MAX_COMMAND) {
		throw new Error(`command too long (limit ${MAX_COMMAND} bytes)`);
	}
	const text = payload.toString();
	if (part === "volume" || part === "brightness") {
		return { tool: TOOLS[part], args: { [part]: readNumber(text) } };
	}
	if (part.startsWith(LIGHT_PREFIX)) {
		return { tool: TOOLS.light, args: { light: part.slice(LIGHT_PREFIX.length), ...readLightCommand(text) } };
	}
	if (part.startsWith(SWITCH_PREFIX)) {
		return { tool: TOOLS.switch, args: { name: part.slice(SWITCH_PREFIX.length), on: readSwitched(text) } };
	}
	throw new Error(`unknown part ${JSON.stringify(part)}`);
}

function readSwitched(text: string): boolean {
	if (text !== "ON" && text !== "OFF") {
		throw new Error(`expected ON or OFF, got ${JSON.stringify(text.slice(0, 64))}`);
	}
	return text === "ON";
}

function readNumber(text: string): number {
	if (!/^\d{1,3}(\.0+)?$/.test(text)) {
		throw new Error(`expected a number from 0 to 100, got ${JSON.stringify(text.slice(0, 64))}`);
	}
	return Number(text);
}

function readLightCommand(text: string): object {
	const { data } = LIGHT_COMMAND.safeParse(jsonIn(text));
	if (data === undefined) {
		throw new Error(`expected a command for a light, got ${JSON.stringify(text.slice(0, 64))}`);
	}
	const { state, brightness, color } = data;
	const channels = color && [color.r, color.g, color.b].map((each) => each.toString(16).padStart(2, "0"));
	return {
		on: state === "ON",
		...(brightness !== undefined && { brightness }),
		...(channels && { color: `#${channels.join("")}` }),
	};
}
