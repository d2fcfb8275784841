import { isInputRequiredResult } from "@modelcontextprotocol/client";
import type { OrInput } from "../core/asking.js";
import { McpError } from "./mcp-error.js";

/** Rejects a request for input, which cannot be answered here. */
export function expectComplete<T extends object>(result: OrInput<T>): T {
	if (isInputRequiredResult(result)) {
		throw new McpError("EXECUTION_FAILED", "the server requires input, which is not supported here", {
			details: result,
		});
	}
	return result as T;
}
