import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/client";
import { jsonIn } from "./received.js";

/** A tool's result with one text. */
export function textResult(text: string, more: Omit<CallToolResult, "content"> = {}): CallToolResult {
	return { content: [{ type: "text", text }], ...more };
}

/** The result of a call that failed: a model reads the text, and may try again. */
export function failedResult(text: string, more: Omit<CallToolResult, "content" | "isError"> = {}): CallToolResult {
	return textResult(text, { isError: true, ...more });
}

/** The text of content. Other blocks are named in parentheses. */
export function textOf(
	content: readonly ContentBlock[],
	describe: (block: ContentBlock) => string = ({ type }) => `(${type})`,
): string {
	return content.map((block) => (block.type === "text" ? block.text : describe(block))).join("\n");
}

/** The structured result of a call, or else its text as JSON; undefined if it is neither. */
export function jsonOf({ structuredContent, content }: CallToolResult): unknown {
	return structuredContent ?? jsonIn(textOf(content));
}
