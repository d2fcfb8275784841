import { type CallResult, failureResult } from "./content.js";
import { ErrorCode, invalidParams, quotable, RpcError } from "./json-rpc.js";
import {
	hasToolDetails,
	type Revision,
	reportsBadArgumentsAsResult,
	reportsFailureAsError,
	unknownToolCode,
} from "./revision.js";
import type { CallSession } from "./tool-call.js";
import type { ToolRegistry } from "./tool-registry.js";
import { ValidationError } from "./validate.js";

/** The answer to a call whose tool has thrown: an error, or a result with the text, as the session's revision wants it. */
export const toolFailure = (
	tool: string,
	error: unknown,
	{ revision, server }: Pick<CallSession, "revision" | "server">,
): RpcError | CallResult => {
	if (error instanceof ValidationError && !reportsBadArgumentsAsResult(revision)) {
		return invalidParams(error.message);
	}
	if (error instanceof RpcError) {
		return error;
	}
	const text = error instanceof Error ? error.message || error.name : String(error);
	server.log(`tool ${tool} failed: ${text}`);
	return reportsFailureAsError(revision) ? new RpcError(ErrorCode.internalError, text) : failureResult(text);
};

/** The error for a call of a tool that the server does not have. Since 2025-03-26 it suggests the nearest name. */
export const unknownTool = (
	name: unknown,
	revision: Revision,
	tools: Pick<ToolRegistry<never>, "nearest">,
): RpcError => {
	if (typeof name !== "string") {
		return invalidParams("name: expected the name of a tool");
	}
	const nearest = hasToolDetails(revision) ? tools.nearest(name) : undefined;
	const suggestion = nearest === undefined ? "" : `. Did you mean ${nearest}?`;
	return new RpcError(unknownToolCode(revision), `Unknown tool: ${quotable(name)}${suggestion}`);
};
