import type { Hardware } from "../hardware/hardware.js";
import type { Properties } from "../mcp_server/schema.js";
import { createTool, type Tool, type ToolDefinition } from "../mcp_server/tool.js";

/** A part of a board: "speaker", "screen", … */
export type Part = keyof Hardware;

/** The hardware a tool is handed: the parts it needs are there, the others may be. */
export type HardwareWith<Needs extends Part> = Hardware & { readonly [P in Needs]-?: NonNullable<Hardware[P]> };

/** A tool and the parts of a board without which it is not offered. */
export interface HardwareTool extends Tool<Hardware> {
	readonly needs: readonly Part[];
}

interface HardwareToolDefinition<Needs extends Part, Input extends Properties, Output extends Properties>
	extends ToolDefinition<HardwareWith<Needs>, Input, Output> {
	/** The parts of the board that `run` uses. On a board that lacks one the tool is absent. */
	readonly needs: readonly Needs[];
}

/**
 * Makes a tool that works on a board's hardware. See docs/add-a-tool.md.
 *
 * @throws TypeError, ValidationError as {@link createTool} does
 */
export function defineTool<
	const Needs extends Part,
	const Input extends Properties = Record<never, never>,
	const Output extends Properties = Properties,
>(definition: HardwareToolDefinition<Needs, Input, Output>): HardwareTool {
	return { ...(createTool(definition) as Tool<Hardware>), needs: definition.needs };
}

/** Whether a board has every part that a tool needs. */
export function isOffered(tool: HardwareTool, hardware: Hardware): boolean {
	return tool.needs.every((part) => hardware[part] !== undefined);
}
