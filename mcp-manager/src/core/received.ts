import {
	type ContentBlock,
	isSpecType,
	type JSONRPCMessage,
	ProtocolErrorCode,
	SUPPORTED_PROTOCOL_VERSIONS,
} from "@modelcontextprotocol/client";
import { isObject } from "../firmware.js";
import { SERVER_ERROR } from "./errors.js";
import { MAX_NESTING, nestsDeeper } from "./limits.js";
import { INVALID_RESPONSE } from "./request-error.js";

// The one reader of messages from devices, upstream servers and clients: null is absence, and one bad part costs that part.

/** The value of JSON text; undefined if it is not JSON. */
export function jsonIn(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}

type Members = Record<string, unknown>;

/** Members that hold data or schemas of their own. */
const VERBATIM: ReadonlySet<string> = new Set(["structuredContent", "inputSchema", "outputSchema", "requestedSchema"]);

/** Whether a member of a message is data, in which null is a value. A prompt has a list of arguments, a call those of the tool. */
function isMessageData(key: string, member: unknown): boolean {
	const isVerbatim = VERBATIM.has(key) || (key === "arguments" && !Array.isArray(member));
	return key === "data" || (isVerbatim && member !== null);
}

/**
 * Returns a value of a protocol without its members that are null. The same object if there are none.
 *
 * @param isData whether a member stays as it is; `parent` is the name of the object that it is in
 */
export function withoutNulls<Value>(
	value: Value,
	isData: (key: string, member: unknown, parent: string) => boolean = isMessageData,
	levels = MAX_NESTING,
	parent = "",
): Value {
	if (typeof value !== "object" || value === null || levels === 0) {
		return value;
	}
	if (Array.isArray(value)) {
		const items = value.map((item) => withoutNulls(item, isData, levels - 1));
		return items.some((item, index) => item !== value[index]) ? (items as Value) : value;
	}
	const members = Object.entries(value);
	const kept = members
		.filter(([key, member]) => member !== null || isData(key, member, parent))
		.map(
			([key, member]) =>
				[key, isData(key, member, parent) ? member : withoutNulls(member, isData, levels - 1, key)] as const,
		);
	const isSame = kept.length === members.length && kept.every(([, member], index) => member === members[index]?.[1]);
	return isSame ? value : (Object.fromEntries(kept) as Value);
}

/**
 * Makes a message of a server valid JSON-RPC. Servers omit an error's code or message, `jsonrpc`, or send null and numbers as text.
 * A response that cannot be used becomes an error response, so that its request fails at once.
 *
 * @throws Error with the reason if it is neither a request, a notification nor a response
 */
export function readMessage(value: unknown): JSONRPCMessage {
	if (!isObject(value)) {
		throw new Error("not a JSON object");
	}
	const isTooDeep = nestsDeeper(value, MAX_NESTING);
	const { id, method, params, result, error } = isTooDeep ? value : withoutNulls(value);
	if (typeof method === "string") {
		if (isTooDeep) {
			throw new Error(TOO_DEEP);
		}
		if (id !== undefined && typeof id !== "string" && !Number.isSafeInteger(id)) {
			throw new Error("invalid request id: expected a string or an integer");
		}
		const given = isObject(params) && { params: method === PROGRESS ? readProgress(params) : params };
		return { jsonrpc: "2.0", ...(id !== undefined && { id }), method, ...given } as JSONRPCMessage;
	}
	// Requests have numbers as ids, or texts that are none.
	const answered = typeof id === "string" && /^\d{1,15}$/.test(id) ? Number(id) : id;
	if (typeof answered !== "number" && typeof answered !== "string") {
		const told = isObject(error) || typeof error === "string" ? `: ${readError(error).message}` : "";
		throw new Error(`unexpected message: not a request, a notification or a response${told}`);
	}
	const response = { jsonrpc: "2.0", id: answered } as const;
	if (isTooDeep) {
		return { ...response, error: invalidResponse(`the response is ${TOO_DEEP}`) };
	}
	if (isObject(error) || typeof error === "string") {
		return { ...response, error: readError(error) };
	}
	const isEmpty = result === undefined && value.result === null;
	return (isObject(result) || isEmpty) && error === undefined
		? { ...response, result: isObject(result) ? { ...result, ...emptyLists(value.result) } : {} }
		: { ...response, error: invalidResponse("the response has neither a result nor an error that is valid") };
}

/** The lists that are null in a result: programs in Go write an empty one so. */
function emptyLists(result: unknown): Record<string, []> {
	const lists = Object.entries(result as Members).filter(([name, value]) => value === null && LISTS.has(name));
	return Object.fromEntries(lists.map(([name]) => [name, []]));
}

const LISTS: ReadonlySet<string> = new Set("tools resources resourceTemplates prompts contents messages".split(" "));

const TOO_DEEP = `nested deeper than ${MAX_NESTING} levels`;

const PROGRESS = "notifications/progress";

/** Reads a JSON-RPC message from text as {@link readMessage} does. Some programs begin their output with a byte order mark. */
export function parseMessage(text: string): JSONRPCMessage {
	return readMessage(JSON.parse(text.replace(/^\uFEFF/, "")));
}

/** Whether a value is meant as a JSON-RPC message, and not as another answer over HTTP. */
export function isMessageLike(value: unknown): value is Members {
	return isObject(value) && ("jsonrpc" in value || ("id" in value && ("result" in value || "error" in value)));
}

/**
 * Makes a message of a client valid where that is possible: null is absence, and `initialize` may lack what the server does not need.
 * Anything else is returned as it is.
 */
export function readClientMessage(value: unknown): unknown {
	if (Array.isArray(value)) {
		return value.map(readClientMessage);
	}
	if (!isObject(value)) {
		return value;
	}
	// A request with null as its id would become a notification.
	const message = value.id === null ? { ...withoutNulls(value), id: null } : withoutNulls(value);
	const { method, params } = message;
	if (method !== "initialize" || !isObject(params) || isSpecType.InitializeRequestParams(params)) {
		return message;
	}
	const { capabilities, clientInfo, ...rest } = params;
	const isDeclared = (capability: unknown): boolean => isSpecType.ClientCapabilities(capability);
	return {
		...message,
		params: {
			...rest,
			capabilities: isObject(capabilities) ? readCapabilities(capabilities, isDeclared) : {},
			clientInfo: readInfo(clientInfo, "unknown"),
		},
	};
}

/** Code and text of an error for a client: that of a validation library lists members of its schemas. */
export function readableError<Failure extends { readonly code: number; readonly message: string }>(
	error: Failure,
): Failure {
	const [, issues] = /^(?:Invalid [^[\n]*: )?(\[\s*\{\s*".*\])$/s.exec(error.message) ?? [];
	const listed = issues === undefined ? undefined : jsonIn(issues);
	if (!Array.isArray(listed) || !listed.every((issue) => isObject(issue) && Array.isArray(issue.path))) {
		return error;
	}
	const texts = (listed as { path: unknown[]; message: unknown }[]).map(({ path, message }) => {
		const member = path.filter((part, index) => index > 0 || part !== "params").join(".");
		return `${member || "params"}: ${String(message).replace(/^Invalid (input|option): /, "")}`;
	});
	return { ...error, code: ProtocolErrorCode.InvalidParams, message: `Invalid params: ${texts.join("; ")}` };
}

function readError(error: string | Members): { code: number; message: string; data?: unknown } {
	if (typeof error === "string") {
		return { code: SERVER_ERROR, message: error };
	}
	const { code, message, data } = error;
	const isCode = Number.isSafeInteger(code);
	const named = isCode || code === undefined ? "" : ` (${text(code)})`;
	const untold = isCode ? `error ${text(code)} without a message` : "error without a message";
	return {
		code: isCode ? (code as number) : SERVER_ERROR,
		message: message === undefined ? untold + named : text(message) + named,
		...(data !== undefined && data !== null && { data }),
	};
}

function invalidResponse(message: string) {
	return { code: ProtocolErrorCode.InternalError, message, data: INVALID_RESPONSE };
}

function readProgress({ progressToken, progress, total, message, ...rest }: Members): Members {
	const [done, all] = [Number.parseFloat(text(progress)), Number.parseFloat(text(total))];
	return {
		...rest,
		progressToken:
			typeof progressToken === "string" && /^\d{1,15}$/.test(progressToken) ? Number(progressToken) : progressToken,
		progress: Number.isFinite(done) ? done : 0,
		...(Number.isFinite(all) && { total: all }),
		...(message !== undefined && { message: text(message) }),
	};
}

/**
 * Makes the result of a request valid MCP where that is possible: optional members and blocks that are invalid are left out, and
 * the content of a call says so. Anything else is returned as it is.
 */
export function readResult(method: string, result: Members): Members {
	const reader = READERS[method];
	const read = reader === undefined || reader.isValid(result) ? result : reader.read(result);
	return read.resultType !== undefined && CACHEABLE.has(method) ? withCacheHints(read) : read;
}

/** Methods whose results have cache hints: https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching */
const CACHEABLE: ReadonlySet<string> = new Set(
	"server/discover tools/list prompts/list resources/list resources/templates/list resources/read".split(" "),
);

/** Returns a result with cache hints: one without them, or with invalid ones, is not cached. */
function withCacheHints(result: Members): Members {
	const { ttlMs, cacheScope } = result;
	const isValid = typeof ttlMs === "number" && ttlMs >= 0 && (cacheScope === "public" || cacheScope === "private");
	return isValid ? result : { ...result, ttlMs: 0, cacheScope: "private" };
}

interface Reader {
	readonly isValid: (result: Members) => boolean;
	readonly read: (result: Members) => Members;
}

const READERS: Readonly<Record<string, Reader>> = {
	initialize: { isValid: isSpecType.InitializeResult, read: readInitialize },
	"tools/call": {
		// The SDK also accepts a result without `content`, MCP does not.
		isValid: (result) => isInputRequired(result) || ("content" in result && isSpecType.CallToolResult(result)),
		read: readCallResult,
	},
	"resources/read": {
		isValid: (result) => isInputRequired(result) || isSpecType.ReadResourceResult(result),
		read: ({ contents, ...rest }) => ({ ...rest, contents: validOf(contents, isContents) }),
	},
	"prompts/get": {
		isValid: (result) => isInputRequired(result) || isSpecType.GetPromptResult(result),
		read: ({ messages, description, ...rest }) => ({
			...rest,
			...(typeof description === "string" && { description }),
			messages: asList(messages).flatMap((message) => (isObject(message) ? [readPromptMessage(message)] : [])),
		}),
	},
};

function isInputRequired({ inputRequests, requestState }: Members): boolean {
	return isObject(inputRequests) || typeof requestState === "string";
}

/** The oldest revision: that of a server that names none, or one that is unknown here. */
const OLDEST_REVISION = "2024-11-05";

function readInitialize({ protocolVersion, capabilities, serverInfo, instructions, ...rest }: Members): Members {
	return {
		...rest,
		protocolVersion: SUPPORTED_PROTOCOL_VERSIONS.includes(`${protocolVersion}`) ? protocolVersion : OLDEST_REVISION,
		capabilities: isObject(capabilities)
			? readCapabilities(capabilities, isSpecType.ServerCapabilities)
			: { tools: {} },
		serverInfo: readInfo(serverInfo, "server"),
		...(typeof instructions === "string" && { instructions }),
	};
}

/** The name and version of a program, and what else it validly says of itself. */
function readInfo(given: unknown, fallback: string): Members {
	const { name = fallback, version = "", ...described } = isObject(given) ? given : {};
	const info = { name: text(name), version: text(version) };
	return withValid<Members>(info, described, isSpecType.Implementation).value ?? info;
}

/** A capability with invalid members, or `true`, is declared without them. */
function readCapabilities(capabilities: Members, isValid: (capabilities: unknown) => boolean): Members {
	const declared = Object.entries(capabilities).filter(([, value]) => value !== false);
	return Object.fromEntries(declared.map(([name, value]) => [name, isValid({ [name]: value }) ? value : {}]));
}

function readCallResult({ content, structuredContent, isError, _meta, ...others }: Members): Members {
	const blocks = asList(content).map(readBlock);
	const bare = structuredContent ?? others.toolResult ?? (Object.keys(others).length > 0 ? others : undefined);
	return {
		...others,
		content: content === undefined && bare !== undefined ? [textBlock(JSON.stringify(bare))] : blocks,
		...(structuredContent !== undefined && structuredContent !== null && { structuredContent }),
		...(isError !== undefined && { isError: isError === true || /^(true|1)$/i.test(text(isError)) }),
		...(isObject(_meta) && { _meta }),
	};
}

function asList(value: unknown): unknown[] {
	return value === undefined ? [] : [value].flat();
}

/** The members that a block of each type must have. */
const BLOCKS: Readonly<Record<string, readonly string[]>> = {
	text: ["text"],
	image: ["data", "mimeType"],
	audio: ["data", "mimeType"],
	resource: ["resource"],
	resource_link: ["uri", "name"],
};

/** A block that cannot be read becomes a text that names it: the model learns that something is missing. */
function readBlock(block: unknown): ContentBlock {
	if (isSpecType.ContentBlock(block)) {
		return block;
	}
	if (!isObject(block)) {
		return textBlock(text(block));
	}
	const { type } = block;
	const given = type === "text" ? { ...block, text: text(block.text ?? "") } : { name: block.uri, ...block };
	const required = (BLOCKS[`${type}`] ?? []).map((member) => [member, (given as Members)[member]] as const);
	const { value } = withValid<ContentBlock>({ type, ...Object.fromEntries(required) }, given, isSpecType.ContentBlock);
	return value ?? textBlock(`(a block of the type ${JSON.stringify(type)} was left out: it is not valid MCP)`);
}

function readPromptMessage({ role, content }: Members): Members {
	return { role: role === "assistant" ? role : "user", content: readBlock(asList(content)[0] ?? "") };
}

function isContents(item: unknown): boolean {
	return isSpecType.TextResourceContents(item) || isSpecType.BlobResourceContents(item);
}

/** The items that are valid, some of them without members that are not. */
function validOf(items: unknown, isValid: (item: unknown) => boolean): unknown[] {
	return asList(items).flatMap((item) => {
		const { uri, text: own, blob } = isObject(item) ? item : {};
		const required = { uri, ...(own === undefined ? { blob } : { text: own }) };
		const { value } = withValid(required, isObject(item) ? item : {}, isValid);
		return value ?? [];
	});
}

/**
 * Adds to required members each of the others that leaves the whole valid.
 *
 * @returns no value if the required members are not valid
 */
export function withValid<Value extends object>(
	required: Members,
	others: Members,
	isValid: (value: unknown) => boolean,
): { readonly value?: Value; readonly dropped: readonly string[] } {
	const whole = { ...others, ...required };
	if (isValid(whole)) {
		return { value: whole as Value, dropped: [] };
	}
	if (!isValid(required)) {
		return { dropped: [] };
	}
	const dropped: string[] = [];
	let value = required;
	for (const [name, member] of Object.entries(others)) {
		if (!Object.hasOwn(required, name)) {
			const more = { ...value, [name]: member };
			if (isValid(more)) {
				value = more;
			} else {
				dropped.push(name);
			}
		}
	}
	return { value: value as Value, dropped };
}

function text(value: unknown): string {
	return typeof value === "string" ? value : String(JSON.stringify(value));
}

function textBlock(content: string): ContentBlock {
	return { type: "text", text: content };
}
