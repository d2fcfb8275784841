import { deepFreeze } from "../core/text/deep-freeze.js";
import type { ToolAnnotations } from "../mcp_server/tool.js";

// Clients assume that a tool without hints is destructive and reaches the internet, so every tool has hints.

/** A tool that only reads. */
export const READS: ToolAnnotations = deepFreeze({
	readOnlyHint: true,
	destructiveHint: false,
	idempotentHint: true,
	openWorldHint: false,
});

/** A tool that sets a value: idempotent and not destructive. */
export const SETS: ToolAnnotations = deepFreeze({
	readOnlyHint: false,
	destructiveHint: false,
	idempotentHint: true,
	openWorldHint: false,
});

/** A tool with an effect at each call: not destructive. */
export const ACTS: ToolAnnotations = deepFreeze({
	readOnlyHint: false,
	destructiveHint: false,
	idempotentHint: false,
	openWorldHint: false,
});
