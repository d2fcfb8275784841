import {
	type CallToolResult,
	type CompleteResult,
	type GetPromptResult,
	type InputRequiredResult,
	isSpecType,
	type ReadResourceResult,
} from "@modelcontextprotocol/client";
import { z } from "zod";
import { isObject } from "../firmware.js";
import type { OrInput } from "./asking.js";

/** The results of the requests that clients make of servers, by method. */
export interface Results {
	"tools/call": OrInput<CallToolResult>;
	"resources/read": OrInput<ReadResourceResult>;
	"prompts/get": OrInput<GetPromptResult>;
	"completion/complete": CompleteResult;
}

/** A result without a request for input. */
export type Complete<Result> = Exclude<Result, InputRequiredResult>;

/** Their schemas. */
export const RESULTS: { readonly [Method in keyof Results]: z.ZodType<Results[Method]> } = {
	/** The SDK also accepts a tool's result without `content`, MCP does not. */
	"tools/call": orInput<CallToolResult>(
		(result) => isObject(result) && Array.isArray(result.content) && isSpecType.CallToolResult(result),
		"not a valid tool result",
	),
	"resources/read": orInput<ReadResourceResult>(isSpecType.ReadResourceResult, "not valid contents of a resource"),
	"prompts/get": orInput<GetPromptResult>(isSpecType.GetPromptResult, "not a valid prompt"),
	"completion/complete": z.custom<CompleteResult>(isSpecType.CompleteResult, "not a valid completion"),
};

/** A result for which `isValid` is true, or a request for input. */
function orInput<Result>(isValid: (result: unknown) => boolean, message: string): z.ZodType<OrInput<Result>> {
	return z.unknown().transform((result, context): OrInput<Result> => {
		if (isValid(result)) {
			return result as Result;
		}
		// The SDK removes `resultType` from results of older revisions, so the other members decide.
		if (isObject(result) && (isObject(result.inputRequests) || typeof result.requestState === "string")) {
			return { ...result, resultType: "input_required" } as InputRequiredResult;
		}
		context.addIssue({ code: "custom", message });
		return z.NEVER;
	});
}
