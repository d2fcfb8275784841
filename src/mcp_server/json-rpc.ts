import { deepFreeze } from "../core/text/deep-freeze.js";
import { JsonLimitError, parseJson } from "../core/text/parse-json.js";
import { PiecedText, type Sendable } from "../core/text/pieced-text.js";
import { utf8Length } from "../core/text/utf8.js";
import type { McpServer } from "./mcp-server.js";

/** The error codes of JSON-RPC 2.0 (§5.1), and one of this project from the server range. */
export const ErrorCode = deepFreeze({
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

/** The error for the wire: an {@link RpcError} as it is, any other as an internal error. */
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

/** Integers beyond 2^53 are rejected, because they could not be echoed exactly, and so are very long strings. */
export const isRequestId = (value: unknown): value is RequestId =>
	typeof value === "string" ? value.length <= MAX_ID_LENGTH : isSafeInteger(value);

/** Characters of a client's text that are quoted in an error. */
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

export const NO_WRAPPER: Wrapper = deepFreeze({ start: "", end: "", bytes: 0 });

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

/** The most bytes that a response adds around its result, the wrapper apart. */
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
export const errorMessage = (id: RequestId | null | undefined, error: RpcError, { start, end }: Wrapper): string => {
	const { code, message, data } = error;
	const body = { code, message, data: isJson(data) ? data : undefined };
	return start.concat(JSON.stringify({ jsonrpc: "2.0", id, error: body }), end);
};

/** An error's `data` comes from a tool's author; if it is not JSON, the error is sent without it. */
const isJson = (data: unknown): boolean => {
	try {
		JSON.stringify(data);
		return true;
	} catch {
		return false;
	}
};

/** A notification. */
export const notificationMessage = (method: string, params?: object): string =>
	JSON.stringify({ jsonrpc: "2.0", method, params });

/**
 * Parses a message of a client. Members that the server does not read are skipped: XS would keep their names until the
 * restart.
 *
 * @param maxValues how much the message may hold: see {@link parseJson}
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
