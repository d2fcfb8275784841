import type { LongResult } from "./json-rpc.js";
import type { McpServer } from "./mcp-server.js";
import type { McpSession } from "./mcp-session.js";
import type { Params } from "./params.js";
import type { ToolCall } from "./tool-call.js";

/** The result of a request, as JSON: at once, or later. */
export type FeatureResult = string | LongResult | Promise<string>;

/**
 * What a server offers besides tools, such as resources or prompts. `src/mcp_features/` has them, each in modules of its
 * own: what a firmware does not import takes neither flash nor heap.
 */
export interface Feature<Context> {
	/** What it adds to the server's `capabilities`. */
	readonly capabilities: Readonly<Record<string, object>>;
	/** Names of members that it reads in messages: see {@link McpServer.names}. */
	readonly names: readonly string[];

	/** Called once, when the server is made: the way to its sessions. */
	attach?(server: McpServer<Context>): void;

	/**
	 * Answers a request.
	 *
	 * @param call the client and its session, and what a request that takes time needs
	 * @returns undefined if the method is not one of this feature
	 * @throws RpcError, also later
	 */
	answer(method: string, params: Params, call: ToolCall): FeatureResult | undefined;

	/** Called when a session has ended: what is kept for it can go. */
	sessionClosed?(session: McpSession<unknown>): void;
}
