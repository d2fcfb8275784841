import { deepFreeze } from "../core/text/deep-freeze.js";
import type { Hardware } from "../hardware/hardware.js";
import type { HardwareWith, Part, WithNeeds } from "../hardware/needs.js";
import type { Properties } from "../mcp_server/schema.js";
import { createTool, type Tool, type ToolDefinition } from "../mcp_server/tool.js";

/** A tool, and the parts that a board must have to offer it. */
export interface HardwareTool extends Tool<Hardware>, WithNeeds {}

interface HardwareToolDefinition<Needs extends Part, Input extends Properties, Output extends Properties>
	extends ToolDefinition<HardwareWith<Needs>, Input, Output>,
		WithNeeds<Needs> {}

/**
 * Makes a tool that works on a board's hardware. See docs/add-a-tool.md.
 *
 * @throws TypeError, ValidationError as {@link createTool} does; TypeError without `needs`
 */
export const defineTool = <
	const Needs extends Part,
	const Input extends Properties = Record<never, never>,
	const Output extends Properties = Properties,
>(
	definition: HardwareToolDefinition<Needs, Input, Output>,
): HardwareTool => {
	const { name, needs } = definition;
	if (!Array.isArray(needs)) {
		throw new TypeError(`tool ${name}: needs: expected the parts that it uses, or [] for none`);
	}
	return deepFreeze({ ...(createTool(definition) as Tool<Hardware>), needs });
};
