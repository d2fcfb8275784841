import { isInputRequiredResult } from "@modelcontextprotocol/client";
import type { OrInput } from "../core/asking.js";
import { McpError } from "./mcp-error.js";

/** A server that asks for input first has nobody to ask here. */
export function expectComplete<T extends object>(result: OrInput<T>): T {
	if (isInputRequiredResult(result)) {
		throw new McpError("EXECUTION_FAILED", "the server asks for input, which nobody can give here", {
			details: result,
		});
	}
	return result as T;
}
