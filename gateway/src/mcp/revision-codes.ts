import { type JSONRPCMessage, ProtocolErrorCode, type Transport } from "@modelcontextprotocol/server";
import { REVISION_OF_STATELESS } from "xs-mcp-manager/core";
import { isObject } from "../firmware.js";

/**
 * Has a transport send errors with the codes of the client's revision: the SDK knows only those of 2026-07-28.
 *
 * @param revision the one that the client speaks, at the moment
 */
export function sendRevisionCodes(transport: Transport, revision: () => string): void {
	const send = transport.send.bind(transport);
	transport.send = (message, options) => send(codeForRevision(message, revision()), options);
}

/** Before 2026-07-28, a resource that does not exist had a code of its own. */
function codeForRevision(message: JSONRPCMessage, revision: string): JSONRPCMessage {
	if (!("error" in message) || revision >= REVISION_OF_STATELESS) {
		return message;
	}
	const { error } = message;
	return error.code === ProtocolErrorCode.InvalidParams && isObject(error.data) && typeof error.data.uri === "string"
		? { ...message, error: { ...error, code: ProtocolErrorCode.ResourceNotFound } }
		: message;
}
