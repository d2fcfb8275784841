import { ProtocolError } from "@modelcontextprotocol/client";
import { ServerError, type ServerErrorCode } from "../core/server-error.js";

/** The error codes of document 3, "error handling". */
export type McpErrorCode =
	| "CONNECTION_FAILED"
	| "CONNECTION_LOST"
	| "TIMEOUT"
	| "INVALID_REQUEST"
	| "METHOD_NOT_FOUND"
	| "INVALID_PARAMS"
	| "EXECUTION_FAILED"
	| "TOOL_NOT_FOUND"
	| "RESOURCE_NOT_FOUND"
	| "PERMISSION_DENIED"
	| "RATE_LIMIT_EXCEEDED"
	| "MAX_RETRIES_EXCEEDED";

const OF_SERVER_ERROR: Readonly<Record<ServerErrorCode, McpErrorCode>> = {
	timeout: "TIMEOUT",
	"device-gone": "CONNECTION_LOST",
	"device-away": "CONNECTION_FAILED",
	"invalid-arguments": "INVALID_PARAMS",
	"queue-full": "RATE_LIMIT_EXCEEDED",
	cancelled: "EXECUTION_FAILED",
	"bad-answer": "EXECUTION_FAILED",
	"retries-exceeded": "MAX_RETRIES_EXCEEDED",
};

/** By the code of a JSON-RPC error; MCP adds -32002 for a resource that does not exist. */
const OF_PROTOCOL_ERROR: Readonly<Record<number, McpErrorCode>> = {
	[-32_600]: "INVALID_REQUEST",
	[-32_601]: "METHOD_NOT_FOUND",
	[-32_602]: "INVALID_PARAMS",
	[-32_002]: "RESOURCE_NOT_FOUND",
};

/** The documented code of an error with which a call failed. */
export function codeOf(error: unknown): McpErrorCode {
	if (error instanceof ServerError) {
		return OF_SERVER_ERROR[error.code];
	}
	return (ProtocolError.isInstance(error) && OF_PROTOCOL_ERROR[error.code]) || "EXECUTION_FAILED";
}
