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

/**
 * Reads a command of Home Assistant's, as a call of a device's tool. The tool's schema checks the ranges.
 *
 * @param part of the device, as in the command's topic
 * @throws Error if the command is malformed
 */
export function readCommand(part: string, payload: Buffer): { readonly tool: string; readonly args: object } {
	if (payload.length > MAX_COMMAND) {
		throw new Error(`command too long (limit ${MAX_COMMAND} bytes)`);
	}
	const text = payload.toString();
	const refuse = (expected: string): never => {
		throw new Error(`expected ${expected}, got ${JSON.stringify(text.slice(0, 64))}`);
	};
	if (part === "volume" || part === "brightness") {
		const value = /^\d{1,3}(\.0+)?$/.test(text) ? Number(text) : refuse("a number from 0 to 100");
		return { tool: TOOLS[part], args: { [part]: value } };
	}
	if (part.startsWith(LIGHT_PREFIX)) {
		const light = part.slice(LIGHT_PREFIX.length);
		const { state, brightness, color } = LIGHT_COMMAND.safeParse(jsonIn(text)).data ?? refuse("a command for a light");
		const channels = color && [color.r, color.g, color.b].map((each) => each.toString(16).padStart(2, "0"));
		const args = {
			light,
			on: state === "ON",
			...(brightness !== undefined && { brightness }),
			...(channels && { color: `#${channels.join("")}` }),
		};
		return { tool: TOOLS.light, args };
	}
	if (part.startsWith(SWITCH_PREFIX)) {
		const on = text === "ON" || (text !== "OFF" && refuse("ON or OFF"));
		return { tool: TOOLS.switch, args: { name: part.slice(SWITCH_PREFIX.length), on } };
	}
	throw new Error(`unknown part ${JSON.stringify(part)}`);
}
