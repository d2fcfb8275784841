import { deepFreeze } from "../core/text/deep-freeze.js";
import type { ToolAnnotations } from "../mcp_server/tool.js";

// Clients assume that a tool without hints is destructive and reaches the internet, so every tool has hints.

const hints = (readOnlyHint: boolean, idempotentHint: boolean): ToolAnnotations =>
	deepFreeze({ readOnlyHint, destructiveHint: false, idempotentHint, openWorldHint: false });

/** A tool that only reads. */
export const READS: ToolAnnotations = hints(true, true);

/** A tool that sets a value: idempotent and not destructive. */
export const SETS: ToolAnnotations = hints(false, true);

/** A tool with an effect at each call: not destructive. */
export const ACTS: ToolAnnotations = hints(false, false);
