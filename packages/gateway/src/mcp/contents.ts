import {
	type CallToolResult,
	type ContentBlock,
	type GetPromptResult,
	type Implementation,
	isInputRequiredResult,
	type Tool,
} from "@modelcontextprotocol/server";
import { MAX_NESTING, nestsDeeper, type OrInput, REVISION_OF_STATELESS } from "xs-mcp-manager/core";
import { isObject } from "../firmware.js";

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
		return structuredContent === undefined ? structured(rest) : withObject(result, revision);
	}
	const content = rest.content.map((block) => blockFor(block, revision));
	if (structuredContent !== undefined && !content.some(({ type }) => type === "text")) {
		content.push(textBlock(JSON.stringify(structuredContent)));
	}
	return { ...rest, content };
}

/**
 * Clients exist (Gemini CLI) that take a result's sole text for its structured content if it is JSON, and report a call as
 * failed if that is no object: devices answer "true".
 */
function structured(result: CallToolResult): CallToolResult {
	const [block, ...others] = result.content;
	if (result.isError || block?.type !== "text" || others.length > 0) {
		return result;
	}
	try {
		const value: unknown = JSON.parse(block.text);
		return isObject(value) || nestsDeeper(value, MAX_NESTING)
			? result
			: { ...result, structuredContent: { result: value } };
	} catch {
		return result;
	}
}

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
