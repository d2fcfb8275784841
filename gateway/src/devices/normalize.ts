import { type JSONRPCMessage, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { INVALID_RESPONSE, MAX_NESTING, nestsDeeper, SERVER_ERROR } from "xs-mcp-manager/core";
import { isObject, isRequestId } from "../firmware.js";

/** The revision of a device that names none. */
const OLDEST_REVISION = "2024-11-05";

/** Revisions with `initialize`. */
const REVISIONS: ReadonlySet<unknown> = new Set([OLDEST_REVISION, "2025-03-26", "2025-06-18", "2025-11-25"]);

const TOO_DEEP = `nested deeper than ${MAX_NESTING} levels`;

/** A device's message is not valid, and it is not the answer to a request either. */
class InvalidMessage extends Error {}

/**
 * Makes a device's message valid JSON-RPC and MCP. Devices of this protocol family omit an error's code,
 * `jsonrpc`, capabilities and versions. An invalid response becomes an error response, so that its request fails at
 * once.
 *
 * @param initializeId the id of the request `initialize`
 * @throws InvalidMessage with the reason
 */
export function normalizeMessage(message: unknown, initializeId: unknown): JSONRPCMessage {
	if (!isObject(message)) {
		throw new InvalidMessage("not a JSON object");
	}
	const { id, method, params, result, error } = message;
	const isTooDeep = nestsDeeper(message, MAX_NESTING);
	if (isTooDeep && typeof method === "string") {
		throw new InvalidMessage(TOO_DEEP);
	}
	if (typeof method === "string") {
		if (id !== undefined && !isRequestId(id)) {
			throw new InvalidMessage("invalid request id: expected a string or an integer");
		}
		return {
			jsonrpc: "2.0",
			...(id !== undefined && { id }),
			method,
			...(isObject(params) && { params }),
		} as JSONRPCMessage;
	}
	if (typeof id !== "number") {
		throw new InvalidMessage("unexpected message: not a request, a notification or a response");
	}
	if (isTooDeep) {
		return { jsonrpc: "2.0", id, error: invalidResponse(`the response is ${TOO_DEEP}`) };
	}
	if (isObject(error) || typeof error === "string") {
		return { jsonrpc: "2.0", id, error: normalizeError(isObject(error) ? error : { message: error }) };
	}
	const normalized = id === initializeId && isObject(result) ? normalizeInitialize(result) : result;
	return isObject(normalized) && (error === undefined || error === null)
		? { jsonrpc: "2.0", id, result: normalized }
		: { jsonrpc: "2.0", id, error: invalidResponse("the response has neither a result nor an error that is valid") };
}

function normalizeError({ code, message, data }: Record<string, unknown>) {
	if (typeof message !== "string") {
		return invalidResponse("the response has an error without a message");
	}
	return {
		code: Number.isSafeInteger(code) ? (code as number) : SERVER_ERROR,
		message,
		...(data !== undefined && { data }),
	};
}

function normalizeInitialize({ protocolVersion, capabilities, serverInfo, ...rest }: Record<string, unknown>) {
	if (!isObject(serverInfo)) {
		return undefined;
	}
	return {
		...rest,
		protocolVersion: REVISIONS.has(protocolVersion) ? protocolVersion : OLDEST_REVISION,
		capabilities: isObject(capabilities) ? capabilities : { tools: {} },
		serverInfo: { ...serverInfo, name: String(serverInfo.name), version: String(serverInfo.version) },
	};
}

function invalidResponse(message: string) {
	return { code: ProtocolErrorCode.InternalError, message, data: INVALID_RESPONSE };
}
