import { deepFreeze } from "../core/text/deep-freeze.js";
import { isObject } from "../core/text/is-object.js";
import { invalidParams, invalidRequest, isRequestId, type RequestId } from "./json-rpc.js";

/** The params of a request. MCP has only named ones. */
export type Params = Readonly<Record<string, unknown>>;

/** Methods that every session answers. Constants, because XS copies a text that is written in a function at each use. */
export const CALL_TOOL = "tools/call";
export const LIST_TOOLS = "tools/list";
export const INITIALIZE = "initialize";
export const PING = "ping";

/** Members of `_meta` since 2026-07-28: each request has what older ones take from their session. */
export const META = deepFreeze({
	version: "io.modelcontextprotocol/protocolVersion",
	capabilities: "io.modelcontextprotocol/clientCapabilities",
	clientInfo: "io.modelcontextprotocol/clientInfo",
	logLevel: "io.modelcontextprotocol/logLevel",
	serverInfo: "io.modelcontextprotocol/serverInfo",
} as const);

/** Whether a request is one of 2026-07-28. */
export const isStateless = (method: string, { _meta }: Params): boolean =>
	(isObject(_meta) && META.version in _meta) || method === "server/discover" || method === "subscriptions/listen";

/** Names of the members that the server reads in common messages, besides those of tool arguments. */
export const COMMON_NAMES: readonly string[] = deepFreeze(
	"jsonrpc id method params name arguments cursor withUserTools _meta progressToken".split(" "),
);

/** Names of the members that it reads in `initialize`. */
export const INITIALIZE_NAMES: readonly string[] = deepFreeze(
	(
		"jsonrpc id method params protocolVersion capabilities clientInfo name version vision url token roots sampling " +
		"elicitation"
	).split(" "),
);

/** Names of the members that it reads in `_meta` since 2026-07-28. The revision's is among the common ones. */
export const META_NAMES: readonly string[] = deepFreeze([
	META.capabilities,
	META.clientInfo,
	META.logLevel,
	..."version vision url token roots sampling elicitation".split(" "),
]);

/** Names of the members that it reads only in other messages. */
export const OTHER_NAMES: readonly string[] = deepFreeze(["result", "error", "requestId", ...INITIALIZE_NAMES]);

const NO_PARAMS: Params = deepFreeze({});

// Looked up once: XS searches the global object, and `Array`, at each use.
const { isArray } = Array;

/**
 * The params of a request; an empty object if absent or null.
 *
 * @throws RpcError invalid params for an array, which JSON-RPC allows and MCP does not; invalid request for a scalar
 */
export const checkParams = (params: unknown): Params => {
	if (typeof params === "object" && params !== null && !isArray(params)) {
		return params as Params;
	}
	if (params === undefined || params === null) {
		return NO_PARAMS;
	}
	if (isArray(params)) {
		throw invalidParams("Invalid params: expected an object, got an array");
	}
	throw invalidRequest("params must be an object");
};

/** The arguments of `tools/call`. Some clients send null for no arguments. @throws RpcError invalid params */
export const readArguments = (params: Params): Params => {
	const value = params.arguments ?? NO_PARAMS;
	if (typeof value !== "object" || isArray(value)) {
		throw invalidParams("arguments: expected an object");
	}
	return value as Params;
};

/**
 * The cursor of a request for a page of a list: "" for the first. Some backends send null.
 *
 * @throws RpcError invalid params
 */
export const readCursor = (params: Params): string => {
	const cursor = params.cursor ?? "";
	if (typeof cursor !== "string") {
		throw invalidParams("cursor: expected a string");
	}
	return cursor;
};

/** The token of a client that wants progress (MCP 2025-11-25, basic/utilities/progress). */
export const progressToken = (params: Params): RequestId | undefined => {
	const token = isObject(params._meta) ? params._meta.progressToken : undefined;
	return isRequestId(token) ? token : undefined;
};
