import {
	type CallToolResult,
	type CompleteResult,
	type ContentBlock,
	type GetPromptResult,
	type InputRequiredResult,
	isSpecType,
	type JSONRPCErrorResponse,
	type ReadResourceResult,
	SUPPORTED_PROTOCOL_VERSIONS,
} from "@modelcontextprotocol/client";
import { isObject } from "xs-mcp-firmware/core/text/json";
import type { OrInput } from "./asking.js";
import { responseError, ServerError } from "./errors.js";

// Reads the results of servers. An invalid part is dropped, and the rest is kept.

type Members = Record<string, unknown>;

/** The results of the requests that clients make of servers, by method. */
export interface Results {
	"tools/call": OrInput<CallToolResult>;
	"resources/read": OrInput<ReadResourceResult>;
	"prompts/get": OrInput<GetPromptResult>;
	"completion/complete": CompleteResult;
}

/** The result of a request. */
export type ResultOf<Method extends string> = Method extends keyof Results ? Results[Method] : object;

/** A result without a request for input. */
export type Complete<Result> = Exclude<Result, InputRequiredResult>;

interface Shape {
	readonly name: string;
	readonly isValid: (result: unknown) => boolean;
	readonly read: (result: Members) => Members;
}

const SHAPES: Readonly<Record<string, Shape>> = {
	initialize: {
		name: "answer to initialize",
		isValid: (result) => isSpecType.InitializeResult(result) && isRevision(result.protocolVersion),
		read: readInitialize,
	},
	"tools/call": { name: "tool result", isValid: isCallResult, read: readCallResult },
	"resources/read": {
		name: "contents of a resource",
		isValid: isSpecType.ReadResourceResult,
		read: ({ contents, ...rest }) => ({
			...rest,
			// Drops invalid members, and items that cannot be used.
			contents: asList(contents).flatMap((item) => {
				const members = isObject(item) ? item : {};
				const { uri, text, blob } = members;
				return withValid({ uri, ...(text === undefined ? { blob } : { text }) }, members, isContents).value ?? [];
			}),
		}),
	},
	"prompts/get": {
		name: "prompt",
		isValid: isSpecType.GetPromptResult,
		read: ({ messages, description, ...rest }) => ({
			...rest,
			...(typeof description === "string" && { description }),
			messages: asList(messages)
				.filter(isObject)
				.map(({ role, content }) => ({
					role: role === "assistant" ? role : "user",
					content: readBlock(asList(content)[0] ?? ""),
				})),
		}),
	},
	"completion/complete": { name: "completion", isValid: isSpecType.CompleteResult, read: (result) => result },
};

/** Whether a value is the result of a call. Most are only texts, and the SDK's check takes as much CPU as reading their JSON. */
function isCallResult(given: unknown): boolean {
	// The SDK also accepts a result without `content`, MCP does not.
	if (!isObject(given) || !Array.isArray(given.content)) {
		return false;
	}
	const { content, isError = false, ...others } = given;
	let isPlain = typeof isError === "boolean" && Object.keys(others).length === 0;
	for (const block of content as unknown[]) {
		isPlain &&=
			isObject(block) && block.type === "text" && typeof block.text === "string" && Object.keys(block).length === 2;
	}
	return isPlain || isSpecType.CallToolResult(given);
}

/** The requests that are made for a client, which may get log messages and questions during them. */
export const CLIENT_METHODS: ReadonlySet<string> = new Set<keyof Results>([
	"tools/call",
	"resources/read",
	"prompts/get",
	"completion/complete",
]);

/** A response of a server, which has an error or a result. */
export interface Response {
	readonly result?: unknown;
	readonly error?: JSONRPCErrorResponse["error"] | undefined;
}

/**
 * Returns the result of a request, made valid where that is possible.
 *
 * @throws ServerError "invalid-result" where it is not, and the error of a response that has one
 */
export function answerOf(method: string, { result: given, error }: Response): object {
	if (error !== undefined) {
		throw responseError(error);
	}
	// `resultType` is of a later revision, and the SDK removes it, so the other members decide.
	const { resultType: _, ...result } = isObject(given) ? given : {};
	const shape = SHAPES[method];
	if (shape === undefined || shape.isValid(result)) {
		return result;
	}
	if (isInputRequired(result)) {
		return { ...result, resultType: "input_required" };
	}
	const read = shape.read(result);
	if (!shape.isValid(read)) {
		throw new ServerError("invalid-result", `${method}: not a valid ${shape.name}`);
	}
	return read;
}

function isInputRequired({ inputRequests, requestState }: Members): boolean {
	return isObject(inputRequests) || typeof requestState === "string";
}

/** Makes the result of a request valid MCP where that is possible: invalid optional members and blocks are left out. */
export function readResult(method: string, result: Members): Members {
	const shape = SHAPES[method];
	const read = shape === undefined || isInputRequired(result) || shape.isValid(result) ? result : shape.read(result);
	const { resultType, ttlMs, cacheScope } = read;
	const isCached = typeof ttlMs === "number" && ttlMs >= 0 && (cacheScope === "public" || cacheScope === "private");
	// One without cache hints, or with invalid ones, is not cached.
	return resultType === undefined || !CACHEABLE.has(method) || isCached
		? read
		: { ...read, ttlMs: 0, cacheScope: "private" };
}

/** Methods whose results have cache hints: https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching */
const CACHEABLE: ReadonlySet<string> = new Set(
	"server/discover tools/list prompts/list resources/list resources/templates/list resources/read".split(" "),
);

/** The oldest revision: that of a server that names none, or one that is unknown here. */
const OLDEST_REVISION = "2024-11-05";

function isRevision(version: unknown): boolean {
	return SUPPORTED_PROTOCOL_VERSIONS.some((each) => each === version);
}

function readInitialize({ protocolVersion, capabilities, serverInfo, instructions, ...rest }: Members): Members {
	return {
		...rest,
		protocolVersion: isRevision(protocolVersion) ? protocolVersion : OLDEST_REVISION,
		capabilities: isObject(capabilities)
			? readCapabilities(capabilities, isSpecType.ServerCapabilities)
			: { tools: {} },
		serverInfo: readInfo(serverInfo, "server"),
		...(typeof instructions === "string" && { instructions }),
	};
}

/** Returns the name and version of a program, and its other members that are valid. */
export function readInfo(given: unknown, fallback: string): Members {
	const { name = fallback, version = "", ...described } = isObject(given) ? given : {};
	const info = { name: jsonText(name), version: jsonText(version) };
	return withValid<Members>(info, described, isSpecType.Implementation).value ?? info;
}

/** A capability with invalid members, or `true`, is declared without them. */
export function readCapabilities(capabilities: Members, isValid: (capabilities: unknown) => boolean): Members {
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
		...(isError !== undefined && { isError: isError === true || /^(true|1)$/i.test(jsonText(isError)) }),
		...(isObject(_meta) && { _meta }),
	};
}

function asList(value: unknown): unknown[] {
	return value === undefined ? [] : [value].flat();
}

/** The members that a block of each type must have. */
const BLOCKS = new Map<unknown, readonly string[]>([
	["text", ["text"]],
	["image", ["data", "mimeType"]],
	["audio", ["data", "mimeType"]],
	["resource", ["resource"]],
	["resource_link", ["uri", "name"]],
]);

/** A block that cannot be read becomes a text that names it: the model learns that something is missing. */
function readBlock(block: unknown): ContentBlock {
	if (isSpecType.ContentBlock(block)) {
		return block;
	}
	if (!isObject(block)) {
		return textBlock(jsonText(block));
	}
	const { type } = block;
	const given = type === "text" ? { ...block, text: jsonText(block.text ?? "") } : { name: block.uri, ...block };
	const required = (BLOCKS.get(type) ?? []).map((member) => [member, (given as Members)[member]] as const);
	const { value } = withValid<ContentBlock>({ type, ...Object.fromEntries(required) }, given, isSpecType.ContentBlock);
	return value ?? textBlock(`(a block of the type ${JSON.stringify(type)} was left out: it is not valid MCP)`);
}

function isContents(item: unknown): boolean {
	return isSpecType.TextResourceContents(item) || isSpecType.BlobResourceContents(item);
}

/** Adds to required members each other one that keeps the whole valid. No value if the required ones are invalid. */
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
	const names = Object.keys(others).filter((name) => !Object.hasOwn(required, name));
	const dropped = names.filter((name) => !isValid({ ...required, [name]: others[name] }));
	const kept = names.filter((name) => !dropped.includes(name)).map((name) => [name, others[name]]);
	return { value: { ...required, ...Object.fromEntries(kept) } as Value, dropped };
}

/** Returns a string unchanged, and any other value as JSON. */
export function jsonText(value: unknown): string {
	return typeof value === "string" ? value : String(JSON.stringify(value));
}

function textBlock(content: string): ContentBlock {
	return { type: "text", text: content };
}
