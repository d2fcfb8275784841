import { type CallResult, failureResult } from "./content.js";
import { ErrorCode, invalidParams, quotable, RpcError } from "./json-rpc.js";
import { type Revision, reportsBadArgumentsAsResult, reportsFailureAsError, unknownToolCode } from "./revision.js";
import type { CallSession } from "./tool-call.js";
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

/** The error for a call of a tool that the server does not have. */
export const unknownTool = (name: unknown, revision: Revision): RpcError =>
	typeof name === "string"
		? new RpcError(unknownToolCode(revision), `Unknown tool: ${quotable(name)}`)
		: invalidParams("name: expected the name of a tool");
