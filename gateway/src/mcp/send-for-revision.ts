import { type JSONRPCMessage, ProtocolErrorCode, type Transport } from "@modelcontextprotocol/server";
import { REVISION_OF_STATELESS, readableError } from "xs-mcp-manager/core";
import { isObject } from "../firmware.js";
import { SINCE } from "./contents.js";
import { TASKS_EXTENSION } from "./serve-tasks.js";

/**
 * Translates messages for the client's revision where the SDK knows only one form: the codes of errors, and what
 * the server says of itself.
 *
 * @param revision the one that the client speaks, at the moment
 */
export function sendForRevision(transport: Transport, revision: () => string): void {
	const send = transport.send.bind(transport);
	transport.send = (message, options) => {
		const readable = "error" in message ? { ...message, error: readableError(message.error) } : message;
		return send(forRevision(readable, revision()), options);
	};
}

function forRevision(message: JSONRPCMessage, revision: string): JSONRPCMessage {
	if (revision >= REVISION_OF_STATELESS) {
		return "result" in message && message.result.resultType === "task" ? withoutContent(message) : message;
	}
	if ("result" in message && isObject(message.result.serverInfo)) {
		const { title, icons, ...rest } = message.result.serverInfo;
		const serverInfo = {
			...rest,
			...(title !== undefined && revision >= SINCE.title && { title }),
			...(icons !== undefined && revision >= SINCE.icons && { icons }),
		};
		const capabilities = withoutTasks(message.result.capabilities);
		return { ...message, result: { ...message.result, serverInfo, ...capabilities } };
	}
	if ("error" in message && message.error.code === ProtocolErrorCode.InvalidParams) {
		// A resource that does not exist had a code of its own.
		const { data } = message.error;
		const isOfResource = isObject(data) && typeof data.uri === "string";
		return isOfResource
			? { ...message, error: { ...message.error, code: ProtocolErrorCode.ResourceNotFound } }
			: message;
	}
	return message;
}

/** The extension is of 2026-07-28: an earlier revision has tasks of another kind. */
function withoutTasks(capabilities: unknown): { readonly capabilities?: object } {
	if (!isObject(capabilities) || !isObject(capabilities.extensions)) {
		return {};
	}
	const { [TASKS_EXTENSION]: _, ...extensions } = capabilities.extensions;
	const { extensions: _all, ...rest } = capabilities;
	return { capabilities: { ...rest, ...(Object.keys(extensions).length > 0 && { extensions }) } };
}

/** The SDK takes a task for a tool's result that has forgotten its content, and adds it. */
function withoutContent<Message extends { readonly result: object }>(message: Message): Message {
	const { content: _, ...result } = message.result as { readonly content?: unknown };
	return { ...message, result };
}
