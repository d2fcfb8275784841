import type { LongResult } from "./json-rpc.js";
import type { McpServer } from "./mcp-server.js";
import type { McpSession } from "./mcp-session.js";
import type { Params } from "./params.js";
import type { ToolCall } from "./tool-call.js";

/** The result of a request, as JSON: at once, or later. */
export type FeatureResult = string | LongResult | Promise<string>;

/**
 * A part of MCP besides tools, such as resources or prompts. A server has only the features that it was given, and what
 * no firmware imports takes neither flash nor heap.
 */
export interface Feature<Context> {
	/** What it adds to the server's `capabilities`. */
	readonly capabilities: Readonly<Record<string, object>>;
	/** Names of members that it reads in messages: see {@link McpServer.names}. Read again after each change. */
	readonly names: readonly string[];

	/** Called once, when the server is made: the feature's way to its sessions. */
	attach?(server: McpServer<Context>): void;

	/**
	 * Answers a request.
	 *
	 * @param request the client and its session, and what a request that takes time needs
	 * @returns undefined if the method is not one of this feature
	 * @throws RpcError, also later
	 */
	answer(method: string, params: Params, request: ToolCall): FeatureResult | undefined;

	/** Called when a session has ended: what is kept for it can go. */
	sessionClosed?(session: McpSession<Context>): void;
}
