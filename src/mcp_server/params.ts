import { deepFreeze } from "../deep-freeze.js";
import { isObject } from "../text/is-object.js";
import { ErrorCode, isRequestId, type RequestId, RpcError } from "./json-rpc.js";

/** The params of a request: in MCP always by name. */
export type Params = Readonly<Record<string, unknown>>;

/**
 * Names of members in what clients say that the server reads, those of a tool's arguments apart: `common` are those of
 * the messages that {@link isCommon} knows.
 */
export const MCP_NAMES: { readonly common: readonly string[]; readonly other: readonly string[] } = deepFreeze({
	common: [
		...["jsonrpc", "id", "method", "params", "name", "arguments", "cursor", "withUserTools"],
		...["_meta", "progressToken"],
	],
	other: [
		...["result", "error", "requestId", "protocolVersion", "capabilities", "clientInfo", "version"],
		...["vision", "url", "token", "roots", "sampling", "elicitation"],
	],
});

/** Whether a message is one of those that come most: a call, the request for a list, a ping. */
export function isCommon(message: unknown): boolean {
	const method = (message as Params | null | undefined)?.method;
	return method === "tools/call" || method === "tools/list" || method === "ping";
}

const NO_PARAMS: Params = deepFreeze({});

/**
 * The params of a request, none being an empty object.
 *
 * @throws RpcError invalid params for an array, which JSON-RPC has and MCP has not; invalid request for what is no structure
 */
export function checkParams(params: unknown): Params {
	if (params === undefined) {
		return NO_PARAMS;
	}
	if (isObject(params)) {
		return params;
	}
	if (Array.isArray(params)) {
		throw new RpcError(ErrorCode.invalidParams, "Invalid params: expected an object, got an array");
	}
	throw new RpcError(ErrorCode.invalidRequest, "Invalid request: params must be an object");
}

/**
 * The arguments of `tools/call`. Clients exist that send null for "no arguments".
 *
 * @throws RpcError invalid params
 */
export function readArguments(params: Params): Params {
	const value = params.arguments ?? NO_PARAMS;
	if (!isObject(value)) {
		throw new RpcError(ErrorCode.invalidParams, "arguments: expected an object");
	}
	return value;
}

/**
 * The token of a client that wants to be told about progress:
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/progress
 */
export function progressToken(params: Params): RequestId | undefined {
	const { _meta: meta } = params;
	if (meta === undefined || !isObject(meta)) {
		return undefined;
	}
	const token = meta.progressToken;
	return isRequestId(token) ? token : undefined;
}
