import { deepFreeze } from "../core/text/deep-freeze.js";
import type { Hardware, HardwareWith, Part, WithNeeds } from "../hardware/hardware.js";
import type { Properties } from "../mcp_server/schema.js";
import { createTool, type Tool, type ToolAnnotations, type ToolDefinition } from "../mcp_server/tool.js";

// Everything that the file of a tool needs.
export { audio, type Content, done, image, type ResourceLink, resourceLink, text } from "../mcp_server/content.js";
export {
	array,
	boolean,
	enumeration,
	type InferProperties,
	integer,
	number,
	object,
	optional,
	type Properties,
	type Schema,
	string,
} from "../mcp_server/schema.js";
export type { ToolAnnotations } from "../mcp_server/tool.js";
export { CallCancelled, type ToolCall } from "../mcp_server/tool-call.js";

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

// Clients assume that a tool without hints is destructive and reaches the internet, so every tool has hints.

const hints = (readOnlyHint: boolean, idempotentHint: boolean): ToolAnnotations =>
	deepFreeze({ readOnlyHint, destructiveHint: false, idempotentHint, openWorldHint: false });

/** A tool that only reads. */
export const READS: ToolAnnotations = hints(true, true);

/** A tool that sets a value: idempotent and not destructive. */
export const SETS: ToolAnnotations = hints(false, true);

/** A tool with an effect at each call: not destructive. */
export const ACTS: ToolAnnotations = hints(false, false);

/**
 * Returns the part of a board that a call names. The name is optional if the board has one such part.
 *
 * @param argument the name of the argument that names it
 * @throws Error with the argument's name and the existing parts
 */
export const findPart = <Part>(
	parts: Readonly<Record<string, Part>>,
	argument: string,
	name: string | undefined,
): Part => {
	const names = Object.keys(parts);
	const wanted = name ?? (names.length === 1 ? names[0] : undefined);
	const part = wanted !== undefined && names.includes(wanted) ? parts[wanted] : undefined;
	if (part === undefined) {
		const wrong = name === undefined ? "" : `, not ${JSON.stringify(name)}`;
		throw new Error(`${argument}: expected one of ${names.join(", ")}${wrong}`);
	}
	return part;
};
