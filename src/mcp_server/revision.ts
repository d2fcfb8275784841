import { deepFreeze } from "../text/deep-freeze.js";
import type { RequestId } from "./json-rpc.js";
import { ErrorCode } from "./json-rpc.js";

/** A revision of MCP, named by its date. Dates compare as strings. */
export type Revision = "2024-11-05" | "2025-03-26" | "2025-06-18" | "2025-11-25" | "2026-07-28";

/** The stateful revisions this server speaks, oldest first. */
export const REVISIONS: readonly Revision[] = deepFreeze(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]);

/** What a client is taken to speak before it has said, or when it never says. */
export const OLDEST_REVISION: Revision = "2024-11-05";

const NEWEST_REVISION: Revision = "2025-11-25";

/** The revision to answer `initialize` with: https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#version-negotiation */
export function negotiate(requested: string): Revision {
	return REVISIONS.find((revision) => revision === requested) ?? NEWEST_REVISION;
}

/** JSON-RPC batches were part of the protocol until 2025-06-18 removed them. */
export function allowsBatches(revision: Revision): boolean {
	return revision <= "2025-03-26";
}

/**
 * Annotations arrived with 2025-03-26, titles and output schemas with 2025-06-18. Clients of 2024-11-05, which have little
 * use for them, get none; those between ignore what they do not know.
 */
export function hasToolDetails(revision: Revision): boolean {
	return revision >= "2025-03-26";
}

/** `structuredContent` arrived with 2025-06-18. */
export function hasStructuredContent(revision: Revision): boolean {
	return revision >= "2025-06-18";
}

/** Since 2025-11-25 arguments that break their schema are a tool's failure, which a language model can read and fix. */
export function reportsBadArgumentsAsResult(revision: Revision): boolean {
	return revision >= "2025-11-25";
}

/**
 * On 2024-11-05 a tool that failed is a JSON-RPC error, as the C++ firmware answers: the backends of that revision show an
 * error's message, and drop the content of a result with `isError`.
 */
export function reportsFailureAsError(revision: Revision): boolean {
	return revision === "2024-11-05";
}

/** The first backends, and the document they follow, expect "method not found" for an unknown tool. */
export function unknownToolCode(revision: Revision): number {
	return revision === "2024-11-05" ? ErrorCode.methodNotFound : ErrorCode.invalidParams;
}

/** The id of an answer to a message whose own could not be read: null in JSON-RPC 2.0; left out since 2025-11-25. */
export function unreadableId(revision: Revision): RequestId | null | undefined {
	return revision >= "2025-11-25" ? undefined : null;
}
