import { ErrorCode, errorMessage, isRequestId, RpcError } from "../mcp_server/json-rpc.js";
import { decodeStart, mcpWrapper } from "../protocols/envelope.js";
import { isObject } from "../text/is-object.js";
import type { Sendable } from "../text/pieced-text.js";
import { utf8Length } from "../text/utf8.js";

/** The most bytes that a UTF-16 unit takes as UTF-8. */
const MAX_BYTES_PER_UNIT = 3;

/** Characters of a message that are searched for a request's id. */
const START_LENGTH = 2_048;

/**
 * What to send in place of an MCP message that the backend cannot take: an error with the id of the request that it
 * answers. A link that breaks at a long message would take the session with it.
 *
 * @param text the message in its wrapper
 * @param maxBytes bytes that the backend takes
 * @param sessionId of the envelope of the error
 * @returns the message itself if it is short enough; undefined if it is too long and answers no request
 */
export function boundedAnswer(text: Sendable, maxBytes: number, sessionId: string): Sendable | undefined {
	if (typeof text === "string" && text.length * MAX_BYTES_PER_UNIT <= maxBytes) {
		return text;
	}
	const bytes = typeof text === "string" ? utf8Length(text) : text.bytes;
	if (bytes <= maxBytes) {
		return text;
	}
	const reason = `response of ${bytes} bytes (limit of this backend: ${maxBytes})`;
	const start = typeof text === "string" ? text : text.take();
	const payload = decodeStart(start.slice(0, START_LENGTH))?.payload;
	const id = isObject(payload) ? payload.id : undefined;
	if (!isRequestId(id)) {
		return undefined;
	}
	return errorMessage(id, new RpcError(ErrorCode.internalError, `Internal error: ${reason}`), mcpWrapper(sessionId));
}
