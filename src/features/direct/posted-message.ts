import { isObject, type Sendable } from "../../core/text/json.js";
import { ErrorCode, RpcError } from "../../mcp_server/json-rpc.js";
import { REVISIONS, type Revision } from "../../mcp_server/revision.js";
import type { ServedRequest } from "../../protocols/http-server.js";

/** The revision of a client that names none (MCP 2025-11-25, basic/transports#protocol-version-header). */
export const DEFAULT_REVISION: Revision = "2025-03-26";

/** The start of an error response, and the error's code. */
const errorStartPattern = (): RegExp =>
	/^\{"jsonrpc":"2\.0",(?:"id":(?:"(?:[^"\\]|\\.)*"|-?\d+|null),)?"error":\{"code":(-?\d+),"message":"(_meta\.)?/;

/** Reads the revision of a message's session. @throws RpcError if it is unknown */
export const readRevision = (message: unknown, headers: ServedRequest["headers"]): Revision => {
	const name = headers.get("mcp-protocol-version") ?? DEFAULT_REVISION;
	const revision = isInitialize(message) ? DEFAULT_REVISION : REVISIONS.find((each) => each === name);
	if (revision === undefined) {
		const expected = `MCP-Protocol-Version: expected one of ${REVISIONS.join(", ")}`;
		throw new RpcError(ErrorCode.invalidRequest, `Unsupported protocol version. ${expected}`);
	}
	return revision;
};

/** The HTTP status of an answer. Since 2026-07-28 protocol errors also have one. */
export const statusOf = (message: unknown, answer: Sendable, isStateless: boolean): number => {
	if (!isStateless) {
		return isReadable(message) ? 200 : 400;
	}
	const [, code, meta] = (typeof answer === "string" && errorStartPattern().exec(answer)) || [];
	switch (code) {
		case "-32601":
			return 404;
		case "-32600":
		case "-32021":
		case "-32022":
			return 400;
		case "-32602":
			return meta === undefined ? 200 : 400;
		default:
			return 200;
	}
};

/** Whether it begins a session. */
export const isInitialize = (message: unknown): boolean => isObject(message) && message.method === "initialize";

/** Whether it answers a request of the device. */
export const isResponse = (message: unknown): message is object =>
	isObject(message) && (message.method ?? null) === null && ("result" in message || "error" in message);

/** Whether it is a message of JSON-RPC, or a batch of them. */
const isReadable = (message: unknown): boolean =>
	Array.isArray(message) ? message.length > 0 : isObject(message) && typeof message.method === "string";

/** Whether it has a request. */
export const expectsAnswer = (message: unknown): boolean =>
	Array.isArray(message)
		? message.some(expectsAnswer)
		: isObject(message) && typeof message.method === "string" && message.id !== undefined;
