import type { ToolAnnotations } from "../../mcp_server/tool.js";
import { deepFreeze } from "../../text/deep-freeze.js";

// Clients take a tool without hints for one that destroys and reaches the internet: every tool says what is true of it.

/** A tool that only reads. */
export const READS: ToolAnnotations = deepFreeze({
	readOnlyHint: true,
	destructiveHint: false,
	idempotentHint: true,
	openWorldHint: false,
});

/** A tool that sets something of the device: once or twice makes no difference, and nothing is lost. */
export const SETS: ToolAnnotations = deepFreeze({
	readOnlyHint: false,
	destructiveHint: false,
	idempotentHint: true,
	openWorldHint: false,
});

/** A tool that does something each time, and destroys nothing. */
export const ACTS: ToolAnnotations = deepFreeze({
	readOnlyHint: false,
	destructiveHint: false,
	idempotentHint: false,
	openWorldHint: false,
});
