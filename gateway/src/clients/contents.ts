import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/server";

/** The first revisions that have these parts of a tool's result. */
const SINCE = { audio: "2025-03-26", resource_link: "2025-06-18", structuredContent: "2025-06-18" } as const;

/**
 * Makes a tool's result one that the client's revision has: what is newer becomes text, because a client may reject a
 * whole result for a kind of content that it does not know.
 */
export function resultFor(result: CallToolResult, revision: string): CallToolResult {
	if (revision >= SINCE.structuredContent) {
		return result;
	}
	const { structuredContent, ...rest } = result;
	const content = result.content.map((block) => blockFor(block, revision));
	if (structuredContent !== undefined && !content.some(({ type }) => type === "text")) {
		content.push(textBlock(JSON.stringify(structuredContent)));
	}
	return { ...rest, content };
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
