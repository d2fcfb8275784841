import { type JSONRPCMessage, ProtocolErrorCode, type Transport } from "@modelcontextprotocol/server";
import { REVISION_OF_STATELESS } from "xs-mcp-manager/core";
import { isObject } from "../firmware.js";
import { SINCE } from "./contents.js";

/**
 * Has a transport send what the SDK sends in one form only as the client's revision has it: the codes of errors, and what
 * the server says of itself.
 *
 * @param revision the one that the client speaks, at the moment
 */
export function sendForRevision(transport: Transport, revision: () => string): void {
	const send = transport.send.bind(transport);
	transport.send = (message, options) => send(forRevision(message, revision()), options);
}

function forRevision(message: JSONRPCMessage, revision: string): JSONRPCMessage {
	if (revision >= REVISION_OF_STATELESS) {
		return message;
	}
	if ("result" in message && isObject(message.result.serverInfo)) {
		const { title, icons, ...rest } = message.result.serverInfo;
		const serverInfo = {
			...rest,
			...(title !== undefined && revision >= SINCE.title && { title }),
			...(icons !== undefined && revision >= SINCE.icons && { icons }),
		};
		return { ...message, result: { ...message.result, serverInfo } };
	}
	return "error" in message ? { ...message, error: errorFor(message.error) } : message;
}

/** Before 2026-07-28, a resource that does not exist had a code of its own. */
function errorFor<RpcError extends { readonly code: number; readonly data?: unknown }>(error: RpcError): RpcError {
	return error.code === ProtocolErrorCode.InvalidParams && isObject(error.data) && typeof error.data.uri === "string"
		? { ...error, code: ProtocolErrorCode.ResourceNotFound }
		: error;
}
