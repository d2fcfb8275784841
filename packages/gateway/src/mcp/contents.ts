import {
	type CallToolResult,
	type ContentBlock,
	type GetPromptResult,
	type Implementation,
	isInputRequiredResult,
	type JSONRPCErrorResponse,
	ProtocolError,
	ProtocolErrorCode,
	type Tool,
} from "@modelcontextprotocol/server";
import { isObject } from "xs-mcp-firmware/core/text/json";
import {
	failedResult,
	flawOf,
	jsonIn,
	MAX_NESTING,
	type OrInput,
	REVISION_OF_STATELESS,
	readableError,
	SERVER_ERROR,
	type Server,
	ServerError,
	type ServerErrorCode,
} from "xs-mcp-manager/core";

/** The first revisions that have these parts of a tool, its result, or what a server says of itself. */
const SINCE = {
	annotations: "2025-03-26",
	audio: "2025-03-26",
	resource_link: "2025-06-18",
	structuredContent: "2025-06-18",
	title: "2025-06-18",
	icons: "2025-11-25",
} as const;

/**
 * Converts a tool's result to the client's revision. Newer kinds of content become text, because a client may reject a
 * whole result for one that it does not know.
 */
export function resultFor<Result extends OrInput<CallToolResult>>(result: Result, revision: string): Result;
export function resultFor(result: OrInput<CallToolResult>, revision: string): OrInput<CallToolResult> {
	if (isInputRequiredResult(result)) {
		return result;
	}
	const { structuredContent, ...rest } = result;
	if (revision >= SINCE.structuredContent) {
		if (structuredContent !== undefined) {
			return withObject(result, revision);
		}
		// Gemini CLI reads a result's only text as structured content if it is JSON, and reports a failed call if that is not
		// an object. Devices answer "true".
		const [block, another] = rest.content;
		const isText = block?.type === "text" && another === undefined && !rest.isError;
		const value = isText && NOT_OBJECT.test(block.text) ? jsonIn(block.text) : undefined;
		const isPlain = value === undefined || flawOf(value, MAX_NESTING) === "depth";
		return isPlain ? rest : { structuredContent: { result: value }, ...rest };
	}
	const content = rest.content.map((block) => blockFor(block, revision));
	if (structuredContent !== undefined && !content.some(({ type }) => type === "text")) {
		content.push(textBlock(JSON.stringify(structuredContent)));
	}
	return { ...rest, content };
}

/** The beginning of JSON that is no object. Most texts are neither. */
const NOT_OBJECT = /^[ \t\r\n]*["[\d\-tfn]/;

/** Wraps structured content that is not an object, for revisions until 2025-11-25. The text has such a value, too (SEP-2106). */
function withObject(result: CallToolResult, revision: string): CallToolResult {
	const { structuredContent: value, content } = result;
	if (isObject(value)) {
		return result;
	}
	const text = content.some(({ type }) => type === "text") ? [] : [textBlock(JSON.stringify(value))];
	const structuredContent = revision < REVISION_OF_STATELESS ? { result: value } : value;
	return { ...result, content: [...content, ...text], structuredContent };
}

/** Makes a prompt one for the client, as {@link withUris} and {@link resultFor} do with a tool's result. */
export function promptFor(result: GetPromptResult, revision: string, uriFor: (uri: string) => string): GetPromptResult {
	const map = (block: ContentBlock): ContentBlock => blockFor(withUri(block, uriFor), revision);
	return { ...result, messages: result.messages.map((message) => ({ ...message, content: map(message.content) })) };
}

/** Lists for older revisions, by the lists that they are made from: the pages of a list are of one list. */
const reduced = new WeakMap<readonly Tool[], Map<string, readonly Tool[]>>();

/** The members of a tool that the client's revision has: lists cost its model's context, and some clients have little room. */
export function toolsFor(tools: readonly Tool[], revision: string): readonly Tool[] {
	if (revision >= REVISION_OF_STATELESS) {
		return tools;
	}
	const known = reduced.get(tools) ?? new Map<string, readonly Tool[]>();
	const found = known.get(revision) ?? tools.map((tool) => toolFor(tool, revision));
	reduced.set(tools, known.set(revision, found));
	return found;
}

function toolFor(whole: Tool, revision: string): Tool {
	const { icons: _icons, title, outputSchema, annotations, _meta, ...tool } = whole;
	if (revision < SINCE.annotations) {
		const { name, description, inputSchema } = tool;
		return { name, ...(description && { description }), inputSchema };
	}
	// Before 2026-07-28, only schemas of objects.
	const { outputSchema: _schema, ...others } = whole;
	const isOfObjects = outputSchema === undefined || outputSchema.type === "object";
	if (revision >= SINCE.icons) {
		return isOfObjects ? whole : others;
	}
	const isTitled = revision >= SINCE.title;
	return {
		...tool,
		...(title !== undefined && isTitled && { title }),
		...(outputSchema !== undefined && isOfObjects && isTitled && { outputSchema }),
		annotations,
		...(_meta !== undefined && isTitled && { _meta }),
	};
}

/** A program's description of itself, with the members that the client's revision has. */
export function infoFor({ title, icons, ...rest }: Implementation, revision: string): Implementation {
	return {
		...rest,
		...(title !== undefined && revision >= SINCE.title && { title }),
		...(icons !== undefined && revision >= SINCE.icons && { icons }),
	};
}

/** Replaces the URIs of resources in a tool's result: a device and its clients may know them by different ones. */
export function withUris(result: CallToolResult, uriFor: (uri: string) => string): CallToolResult {
	const hasUris = result.content.some(({ type }) => type === "resource" || type === "resource_link");
	return hasUris ? { ...result, content: result.content.map((block) => withUri(block, uriFor)) } : result;
}

/** A client fetches from the web itself. */
const ON_THE_WEB = /^https?:/i;

function withUri(block: ContentBlock, uriFor: (uri: string) => string): ContentBlock {
	if (block.type === "resource") {
		return { ...block, resource: { ...block.resource, uri: uriFor(block.resource.uri) } };
	}
	return block.type === "resource_link" && !ON_THE_WEB.test(block.uri) ? { ...block, uri: uriFor(block.uri) } : block;
}

function blockFor(block: ContentBlock, revision: string): ContentBlock {
	if (block.type === "audio" && revision < SINCE.audio) {
		return textBlock(`(audio, ${block.mimeType}: ${Buffer.byteLength(block.data, "base64")} bytes)`);
	}
	if (block.type === "resource_link" && revision < SINCE.resource_link) {
		const { title, name, description, uri } = block;
		return textBlock([title ?? name, description, uri].filter((part) => part !== undefined).join("\n"));
	}
	return block;
}

function textBlock(text: string): ContentBlock {
	return { type: "text", text };
}

/** The member of `_meta`, or of an error's `data`, that tells programs why a server could not answer. */
const ERROR = "xs-mcp/error";

/** Why a call failed without a result of the device's own: the core's reasons, and the gateway's. */
type CallFailure = ServerErrorCode | "rejected" | "unknown-tool" | "not-read-only" | "input-required";

/** The first revision in which wrong arguments are a failed call, so that a model can correct them (SEP-1303). */
const ARGUMENTS_ARE_TOOL_ERRORS = "2025-11-25";

/**
 * MCP "Error Handling": an error that a model cannot correct is a JSON-RPC error; any other is a failed call.
 *
 * @returns the result of a failed call
 * @throws ProtocolError
 */
export function answerFailedCall(error: unknown, server: Server, revision: string): CallToolResult {
	if (error instanceof ServerError && error.code === "invalid-arguments") {
		return answerWrongArguments(error.message, revision);
	}
	const failure = requestError(error, server, revision);
	if (!ProtocolError.isInstance(failure) || failure.code !== ProtocolErrorCode.InternalError) {
		throw failure;
	}
	return failedCall((failure.data as Record<typeof ERROR, CallFailure>)[ERROR], failure.message);
}

/**
 * Wrong arguments are a failed call in the revisions that say so.
 *
 * @throws ProtocolError in earlier ones
 */
export function answerWrongArguments(message: string, revision: string): CallToolResult {
	if (revision < ARGUMENTS_ARE_TOOL_ERRORS) {
		throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
	}
	return failedCall("invalid-arguments", message);
}

/** Returns the JSON-RPC error for a request that failed. A tool's call gets one only for a fault of the client. */
export function requestError(error: unknown, server: Server, revision: string): unknown {
	if (error instanceof ServerError) {
		return new ProtocolError(ProtocolErrorCode.InternalError, error.message, { [ERROR]: error.code });
	}
	if (!ProtocolError.isInstance(error)) {
		return error;
	}
	const { code, message, data } = error;
	const isMissing = code === ProtocolErrorCode.MissingRequiredClientCapability && revision >= REVISION_OF_STATELESS;
	if (isMissing || code === ProtocolErrorCode.InvalidParams || code === ProtocolErrorCode.MethodNotFound) {
		// "Method not found" of a server must not look as if the gateway lacked the method.
		return new ProtocolError(isMissing ? code : ProtocolErrorCode.InvalidParams, message, data);
	}
	// The C++ firmware's errors have no code of their own.
	const suffix = code === SERVER_ERROR ? "" : ` (${code})`;
	const text = `${server.alias} rejected the call: ${message}${suffix}`;
	return new ProtocolError(ProtocolErrorCode.InternalError, text, { [ERROR]: "rejected" });
}

/** The error of a response in the client's revision: until 2025-11-25, a resource that does not exist had a code of its own. */
export function errorFor(error: unknown, revision: string): JSONRPCErrorResponse["error"] {
	const { code, message, data } = error as Partial<ProtocolError>;
	const isOfParams = code === ProtocolErrorCode.InvalidParams || code === ProtocolErrorCode.ResourceNotFound;
	const isOfResource = revision < REVISION_OF_STATELESS && isObject(data) && typeof data.uri === "string";
	const ofParams = isOfResource ? ProtocolErrorCode.ResourceNotFound : ProtocolErrorCode.InvalidParams;
	const known = Number.isSafeInteger(code) ? (code as number) : ProtocolErrorCode.InternalError;
	return readableError({
		code: isOfParams ? ofParams : known,
		message: message ?? "Internal error",
		...(data !== undefined && { data }),
	});
}

/** Whether a server says that it has no such resource, as its revision puts it. */
export function saysNotFound(error: unknown): boolean {
	return (
		ProtocolError.isInstance(error) &&
		(error.code === ProtocolErrorCode.ResourceNotFound ||
			(error.code === ProtocolErrorCode.InvalidParams && isObject(error.data) && error.data.uri !== undefined))
	);
}

/** A failed call: the code is for programs, the text for models. */
export function failedCall(code: CallFailure, text: string): CallToolResult {
	return failedResult(text, { _meta: { [ERROR]: code } });
}
