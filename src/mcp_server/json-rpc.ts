import { isObject, JsonLimitError, PiecedText, parseJson, type Sendable } from "../core/text/json.js";
import { utf8Length } from "../core/text/utf8.js";
import type { McpServer } from "./mcp-server.js";

/** The error codes of JSON-RPC 2.0 (§5.1), and one of this project from the server range. */
export const ErrorCode = Object.freeze({
	parseError: -32700,
	invalidRequest: -32600,
	methodNotFound: -32601,
	invalidParams: -32602,
	internalError: -32603,
	/** The device is working on as many calls as it can hold. */
	tooManyCalls: -32000,
} as const);

/** A string or an integer, never null: https://modelcontextprotocol.io/specification/2025-11-25/basic#requests */
export type RequestId = string | number;

/** An error that crosses the wire as a JSON-RPC error object. */
export class RpcError extends Error {
	/** Declared as a field: an assignment would hit the read-only property of `Error` in flash. */
	override readonly name = "RpcError";
	readonly code: number;
	readonly data: unknown;

	constructor(code: number, message: string, data?: unknown) {
		super(message);
		this.code = code;
		this.data = data;
	}
}

/** The error for invalid params. */
export const invalidParams = (message: string): RpcError => new RpcError(ErrorCode.invalidParams, message);

/** The error for a message that is not a request, or that is too large. */
export const invalidRequest = (reason: string): RpcError =>
	new RpcError(ErrorCode.invalidRequest, `Invalid request: ${reason}`);

/** Returns an {@link RpcError} itself; any other error becomes an internal error. */
export const toRpcError = (error: unknown): RpcError => {
	if (error instanceof RpcError) {
		return error;
	}
	const text = error instanceof Error ? error.message : String(error);
	return new RpcError(ErrorCode.internalError, `Internal error: ${text}`);
};

// Looked up once: XS searches the global object, and these, at each use.
const { isSafeInteger } = Number;
const { stringify } = JSON;

/** The longest id of a request, in characters. */
const MAX_ID_LENGTH = 1_024;

/** Rejects integers beyond 2^53, which could not be echoed exactly, and very long strings. */
export const isRequestId = (value: unknown): value is RequestId =>
	typeof value === "string" ? value.length <= MAX_ID_LENGTH : isSafeInteger(value);

/** Maximum characters of a client's text that an error quotes. */
const MAX_QUOTE_LENGTH = 128;

/** A client's text for an error, truncated because each copy takes memory. */
export const quotable = (words: string): string =>
	words.length > MAX_QUOTE_LENGTH ? `${words.slice(0, MAX_QUOTE_LENGTH)}…` : words;

/** An answer to send: now, later, or none. */
export type Answer = Sendable | undefined | Promise<Sendable | undefined>;

/** The text that a transport puts before and after each message. */
export interface Wrapper {
	readonly start: string;
	readonly end: string;
	/** Bytes of both as UTF-8. */
	readonly bytes: number;
}

export const NO_WRAPPER: Wrapper = Object.freeze({ start: "", end: "", bytes: 0 });

/** The text before a response's id, between the id and a result, and after the result. */
export const RESPONSE_START = '{"jsonrpc":"2.0","id":';
export const RESULT_START = ',"result":';
export const RESPONSE_END = "}";

/** A result that holds a long list: its JSON before the list's items, the items as UTF-8, and the JSON after them. */
export interface LongResult {
	readonly before: string;
	readonly items: readonly ArrayBuffer[];
	readonly after: string;
	/** Bytes of the whole as UTF-8, the commas between the items included. */
	readonly bytes: number;
}

/** A response that carries a long result. It is never in memory as a whole. */
export const longResultMessage = (id: RequestId, result: LongResult, wrapper: Wrapper): PiecedText => {
	const json = typeof id === "number" ? String(id) : stringify(id);
	const idBytes = typeof id === "number" ? json.length : utf8Length(json);
	const head = wrapper.start.concat(RESPONSE_START, json, RESULT_START, result.before);
	const tail = result.after.concat(RESPONSE_END, wrapper.end);
	return new PiecedText(head, result.items, tail, wrapper.bytes + EMPTY_RESULT_BYTES + idBytes + result.bytes);
};

/** Returns the maximum bytes that a response adds to its result, without the wrapper. */
export const resultOverhead = (id: RequestId): number =>
	EMPTY_RESULT_BYTES + (typeof id === "number" ? MAX_INTEGER_LENGTH : utf8Length(stringify(id)));

/** Digits and sign of a safe integer. */
const MAX_INTEGER_LENGTH = 17;

const EMPTY_RESULT_BYTES = RESPONSE_START.length + RESULT_START.length + RESPONSE_END.length;

/**
 * A response that carries an error, in its wrapper.
 *
 * @param id the request's id; null if it could not be read (https://www.jsonrpc.org/specification#response_object §5), undefined to leave the member out
 */
export const errorMessage = (id: RequestId | null | undefined, error: RpcError, wrapper: Wrapper): string => {
	const { code, message, data } = error;
	try {
		return wrapper.start.concat(stringify({ jsonrpc: "2.0", id, error: { code, message, data } }), wrapper.end);
	} catch {
		// An error's `data` comes from a tool's author: if it is not JSON, the error is sent without it.
		return errorMessage(id, new RpcError(code, message), wrapper);
	}
};

/** A notification. */
export const notificationMessage = (method: string, params?: object): string =>
	JSON.stringify({ jsonrpc: "2.0", method, params });

/**
 * Parses a message of a client. Members that the server does not read are skipped: XS would keep their names until the
 * restart.
 *
 * @param maxValues limit of the message's values: see {@link parseJson}
 * @throws RpcError if the text is not JSON, nests too deep or has too many values
 */
export const parseMessage = (
	text: string,
	server: Pick<McpServer<unknown>, "commonNames" | "widerNames">,
	maxValues?: number,
): unknown => {
	try {
		const message = parseJson(text, maxValues, server.commonNames);
		const wider = server.widerNames(message);
		return wider === undefined ? message : parseJson(text, maxValues, wider);
	} catch (error) {
		const { message } = error as Error;
		throw error instanceof JsonLimitError
			? invalidRequest(message)
			: new RpcError(ErrorCode.parseError, `Parse error: ${message}`);
	}
};

/** The params of a request. MCP has only named ones. */
export type Params = Readonly<Record<string, unknown>>;

/** Methods that every session answers. Constants, because XS copies a literal in a function at each use. */
export const CALL_TOOL = "tools/call";
export const LIST_TOOLS = "tools/list";
export const INITIALIZE = "initialize";
export const PING = "ping";

/** Members of `_meta` since 2026-07-28: each request carries what older revisions negotiate for a session. */
export const META = Object.freeze({
	version: "io.modelcontextprotocol/protocolVersion",
	capabilities: "io.modelcontextprotocol/clientCapabilities",
	clientInfo: "io.modelcontextprotocol/clientInfo",
	logLevel: "io.modelcontextprotocol/logLevel",
	serverInfo: "io.modelcontextprotocol/serverInfo",
} as const);

/** Whether a request is one of 2026-07-28. */
export const isStateless = (method: string, { _meta }: Params): boolean =>
	(isObject(_meta) && META.version in _meta) || method === "server/discover" || method === "subscriptions/listen";

/** Names of the members that the server reads in common messages. A tool adds its arguments. */
export const COMMON_NAMES: readonly string[] = Object.freeze(
	"jsonrpc id method params name arguments cursor withUserTools _meta progressToken".split(" "),
);

/** Names of the members that the server reads in `initialize`. */
export const INITIALIZE_NAMES: readonly string[] = Object.freeze(
	(
		"jsonrpc id method params protocolVersion capabilities clientInfo name version vision url token roots sampling " +
		"elicitation"
	).split(" "),
);

/** Names of the members that it reads in `_meta` since 2026-07-28, except the revision, which is a common one. */
export const META_NAMES: readonly string[] = Object.freeze([
	META.capabilities,
	META.clientInfo,
	META.logLevel,
	..."version vision url token roots sampling elicitation".split(" "),
]);

/** Names of the members that it reads only in other messages. */
export const OTHER_NAMES: readonly string[] = Object.freeze(["result", "error", "requestId", ...INITIALIZE_NAMES]);

const NO_PARAMS: Params = Object.freeze({});

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

/** A revision of MCP, named by its date. Dates compare as strings. */
export type Revision = "2024-11-05" | "2025-03-26" | "2025-06-18" | "2025-11-25" | "2026-07-28";

/** The stateful revisions that this server supports, oldest first. */
export const REVISIONS: readonly Revision[] = Object.freeze(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]);

/** The revision assumed until the client names one. */
export const OLDEST_REVISION: Revision = "2024-11-05";

const NEWEST_REVISION: Revision = "2025-11-25";

/** The revision to answer `initialize` with: https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#version-negotiation */
export const negotiate = (requested: string): Revision =>
	REVISIONS.includes(requested as Revision) ? (requested as Revision) : NEWEST_REVISION;

/** Annotations came with 2025-03-26, titles and output schemas with 2025-06-18; unknown ones are ignored. */
export const hasToolDetails = (revision: Revision): boolean => revision >= "2025-03-26";

/** The revision that brought `structuredContent`. */
export const STRUCTURED_SINCE: Revision = "2025-06-18";

/** Whether a failed tool is a JSON-RPC error: backends of 2024-11-05 drop the content of a result with `isError`. */
export const reportsFailureAsError = (revision: Revision): boolean => revision === "2024-11-05";

/** The id of a response to a message with an unreadable id: null in JSON-RPC 2.0; left out since 2025-11-25. */
export const unreadableId = (revision: Revision): RequestId | null | undefined =>
	revision >= "2025-11-25" ? undefined : null;
