import {
	type CallToolResult,
	type JSONRPCErrorResponse,
	ProtocolError,
	ProtocolErrorCode,
} from "@modelcontextprotocol/server";
import type { Server } from "xs-mcp-manager/core";
import {
	failedResult,
	REVISION_OF_STATELESS,
	readableError,
	SERVER_ERROR,
	ServerError,
	type ServerErrorCode,
} from "xs-mcp-manager/core";
import { isObject } from "../firmware.js";

/** The member of `_meta`, or of an error's `data`, that tells programs why a server could not answer. */
const ERROR = "xs-mcp/error";

/** Why a call failed without a result of the device's own: the core's reasons, and the gateway's. */
type CallFailure = ServerErrorCode | "rejected" | "unknown-tool" | "not-read-only" | "input-required";

/** The first revision in which wrong arguments are a failed call, so that a model can correct them (SEP-1303). */
const ARGUMENTS_ARE_TOOL_ERRORS = "2025-11-25";

/**
 * MCP "Error Handling": an error that a model cannot correct is a JSON-RPC error; any other is a failed call.
 *
 * @returns the result of a failed call
 * @throws ProtocolError
 */
export function answerFailedCall(error: unknown, server: Server, revision: string): CallToolResult {
	if (error instanceof ServerError) {
		return error.code === "invalid-arguments"
			? answerWrongArguments(error.message, revision)
			: failedCall(error.code, error.message);
	}
	if (!ProtocolError.isInstance(error)) {
		throw error;
	}
	if (isClientsFault(error, revision)) {
		throw asInvalidParams(error);
	}
	return failedCall("rejected", rejection(server, error));
}

/**
 * Wrong arguments are a failed call in the revisions that say so.
 *
 * @throws ProtocolError in earlier ones
 */
export function answerWrongArguments(message: string, revision: string): CallToolResult {
	if (revision < ARGUMENTS_ARE_TOOL_ERRORS) {
		throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
	}
	return failedCall("invalid-arguments", message);
}

/** The JSON-RPC error for a request that failed, other than a tool's call. */
export function requestError(error: unknown, server: Server, revision: string): unknown {
	if (error instanceof ServerError) {
		return new ProtocolError(ProtocolErrorCode.InternalError, error.message, { [ERROR]: error.code });
	}
	if (!ProtocolError.isInstance(error)) {
		return error;
	}
	return isClientsFault(error, revision)
		? asInvalidParams(error)
		: new ProtocolError(ProtocolErrorCode.InternalError, rejection(server, error), { [ERROR]: "rejected" });
}

/** The error of a response in the client's revision: until 2025-11-25, a resource that does not exist had a code of its own. */
export function errorFor(error: unknown, revision: string): JSONRPCErrorResponse["error"] {
	const { code, message, data } = error as Partial<ProtocolError>;
	const isOfParams = code === ProtocolErrorCode.InvalidParams || code === ProtocolErrorCode.ResourceNotFound;
	const isOfResource = revision < REVISION_OF_STATELESS && isObject(data) && typeof data.uri === "string";
	const ofParams = isOfResource ? ProtocolErrorCode.ResourceNotFound : ProtocolErrorCode.InvalidParams;
	const known = Number.isSafeInteger(code) ? (code as number) : ProtocolErrorCode.InternalError;
	return readableError({
		code: isOfParams ? ofParams : known,
		message: message ?? "Internal error",
		...(data !== undefined && { data }),
	});
}

/** Whether a server says that it has no such resource, as its revision puts it. */
export function saysNotFound(error: unknown): boolean {
	return (
		ProtocolError.isInstance(error) &&
		(error.code === ProtocolErrorCode.ResourceNotFound ||
			(error.code === ProtocolErrorCode.InvalidParams && isObject(error.data) && error.data.uri !== undefined))
	);
}

function isClientsFault({ code }: ProtocolError, revision: string): boolean {
	return (
		code === ProtocolErrorCode.InvalidParams ||
		code === ProtocolErrorCode.MethodNotFound ||
		(code === ProtocolErrorCode.MissingRequiredClientCapability && revision >= REVISION_OF_STATELESS)
	);
}

/** "Method not found" of a server must not look as if the gateway lacked the method. */
function asInvalidParams({ code, message, data }: ProtocolError): ProtocolError {
	return new ProtocolError(
		code === ProtocolErrorCode.MissingRequiredClientCapability ? code : ProtocolErrorCode.InvalidParams,
		message,
		data,
	);
}

function rejection({ alias }: Server, { message, code }: ProtocolError): string {
	// The C++ firmware's errors have no code of their own.
	const told = code === SERVER_ERROR ? "" : ` (${code})`;
	return `${alias} rejected the call: ${message}${told}`;
}

/** A failed call: the code is for programs, the text for models. */
export function failedCall(code: CallFailure, text: string): CallToolResult {
	return failedResult(text, { _meta: { [ERROR]: code } });
}
