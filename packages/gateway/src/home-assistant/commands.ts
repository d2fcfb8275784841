import { jsonIn } from "xs-mcp-manager/core";
import * as z from "zod";
import { TOOLS } from "./discovery.js";
import { SHOWN_KINDS } from "./status.js";

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
	const shown = SHOWN_KINDS.find(({ kind }) => part.startsWith(`${kind.name}-`));
	if (shown === undefined) {
		throw new Error(`unknown part ${JSON.stringify(part)}`);
	}
	const { kind, component, tool, value } = shown;
	const call = (args: object) => ({
		tool: tool.name,
		args: { [tool.part]: part.slice(kind.name.length + 1), ...args },
	});
	switch (component) {
		case "light": {
			const { state, brightness, color } =
				LIGHT_COMMAND.safeParse(jsonIn(text)).data ?? refuse("a command for a light");
			const channels = color && [color.r, color.g, color.b].map((each) => each.toString(16).padStart(2, "0"));
			return call({
				on: state === "ON",
				...(brightness !== undefined && { brightness }),
				...(channels && { color: `#${channels.join("")}` }),
			});
		}
		case "number":
			return call({ [value.name]: /^-?\d{1,9}(\.\d{1,9})?$/.test(text) ? Number(text) : refuse("a number") });
		case "switch":
			return call({ [value.name]: text === "ON" || (text !== "OFF" && refuse("ON or OFF")) });
	}
}
