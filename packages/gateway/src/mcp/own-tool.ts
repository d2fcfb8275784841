import type { CallToolResult, Tool } from "@modelcontextprotocol/server";
import { describeIssues, failedResult, inputSchemaOf } from "xs-mcp-manager/core";
import type * as z from "zod";
import type { OwnTool, OwnToolCaller } from "../catalog/own-tools.js";
import { failedCall } from "./failures.js";

/**
 * A tool of the gateway whose arguments are checked before it is called.
 *
 * @param run rejects with RangeError if an argument cannot be used, with another Error if the call has failed
 */
export function ownTool<Input extends z.ZodObject>(
	listed: Omit<Tool, "inputSchema">,
	input: Input,
	run: (args: z.output<Input>, caller: OwnToolCaller) => Promise<CallToolResult>,
): OwnTool {
	const { name } = listed;
	return {
		listed: { ...listed, inputSchema: inputSchemaOf(input) },
		async call(args, caller) {
			const { data, error: invalid } = input.safeParse(args);
			if (invalid !== undefined) {
				return failedCall("invalid-arguments", `${name}: ${describeIssues(invalid.issues, "arguments")}`);
			}
			try {
				return await run(data, caller);
			} catch (error) {
				const text = `${name}: ${(error as Error).message}`;
				return error instanceof RangeError ? failedCall("invalid-arguments", text) : failedResult(text);
			}
		},
	};
}
