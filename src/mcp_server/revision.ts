import type { RequestId } from "./json-rpc.js";
import { ErrorCode } from "./json-rpc.js";

/** A revision of MCP, named by its date. Dates compare as strings. */
export type Revision = "2024-11-05" | "2025-03-26" | "2025-06-18" | "2025-11-25" | "2026-07-28";

/** The stateful revisions that this server supports, oldest first. */
export const REVISIONS: readonly Revision[] = Object.freeze(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]);

/** The revision assumed until the client names one. */
export const OLDEST_REVISION: Revision = "2024-11-05";

const NEWEST_REVISION: Revision = "2025-11-25";

/** The revision to answer `initialize` with: https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#version-negotiation */
export const negotiate = (requested: string): Revision =>
	REVISIONS.includes(requested as Revision) ? (requested as Revision) : NEWEST_REVISION;

/** JSON-RPC batches were part of the protocol until 2025-06-18 removed them. */
export const allowsBatches = (revision: Revision): boolean => revision <= "2025-03-26";

/** Annotations came with 2025-03-26, titles and output schemas with 2025-06-18; unknown ones are ignored. */
export const hasToolDetails = (revision: Revision): boolean => revision >= "2025-03-26";

/** The revision that brought `structuredContent`. */
export const STRUCTURED_SINCE: Revision = "2025-06-18";

/** Since 2025-11-25 invalid arguments are a tool error, which a language model can read and correct. */
export const reportsBadArgumentsAsResult = (revision: Revision): boolean => revision >= "2025-11-25";

/** Whether a failed tool is a JSON-RPC error: backends of 2024-11-05 drop the content of a result with `isError`. */
export const reportsFailureAsError = (revision: Revision): boolean => revision === "2024-11-05";

/** The first backends, and the document they follow, expect "method not found" for an unknown tool. */
export const unknownToolCode = (revision: Revision): number =>
	revision === "2024-11-05" ? ErrorCode.methodNotFound : ErrorCode.invalidParams;

/** The id of a response to a message with an unreadable id: null in JSON-RPC 2.0; left out since 2025-11-25. */
export const unreadableId = (revision: Revision): RequestId | null | undefined =>
	revision >= "2025-11-25" ? undefined : null;
