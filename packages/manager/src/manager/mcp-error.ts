import type { CallToolResult } from "@modelcontextprotocol/client";
import { type McpErrorCode, managerCodeOf } from "../core/errors.js";
import type { ServerTool } from "../core/offers.js";
import { isSafeToRetry } from "../core/retry.js";

/** Why something failed. */
export class McpError extends Error {
	readonly code: McpErrorCode;
	readonly details: unknown;
	/** Whether it can be repeated without doing its work twice. */
	readonly retryable: boolean;

	constructor(
		code: McpErrorCode,
		message: string,
		{ details, retryable = false }: { details?: unknown; retryable?: boolean } = {},
	) {
		super(message);
		this.name = "McpError";
		this.code = code;
		this.details = details;
		this.retryable = retryable;
	}
}

/** The outcome of a tool call. */
export interface McpToolResult<Data = CallToolResult> {
	readonly success: boolean;
	/** The tool's MCP result; for a local tool, any data. */
	readonly data?: Data;
	readonly error?: Pick<McpError, "code" | "message" | "details" | "retryable">;
	/** `executionTime` is in milliseconds, waiting included. */
	readonly metadata: { readonly executionTime: number };
}

/** The error of a call, with the documented code. */
export function toMcpError(error: unknown, tool?: ServerTool): McpError {
	if (error instanceof McpError) {
		return error;
	}
	const { message, data } = error as Error & { data?: unknown };
	return new McpError(managerCodeOf(error), message, { details: data, retryable: isSafeToRetry(error, tool) });
}

/** Runs a task, and turns its errors into McpError. */
export async function translated<T>(task: () => Promise<T>): Promise<T> {
	try {
		return await task();
	} catch (error) {
		throw toMcpError(error);
	}
}
