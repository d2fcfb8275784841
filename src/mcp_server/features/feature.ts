import type { RequestId } from "../json-rpc.js";
import type { McpServer } from "../mcp-server.js";
import type { Answer } from "../mcp-session.js";
import type { Params } from "../params.js";
import type { ToolCall } from "../tool-call.js";
import type { FeatureResult, FeatureSession } from "./feature-session.js";

/**
 * What a server offers besides tools, such as resources or prompts. Each has modules of its own: what a firmware does not
 * import takes neither flash nor heap.
 */
export interface Feature<Context> {
	/** What it adds to the server's `capabilities`. */
	readonly capabilities: Readonly<Record<string, object>>;
	/** Names of members that it reads in messages: see {@link McpServer.allNames}. */
	readonly names: readonly string[];
	/** Those of them that it reads in calls of tools, too. Default: none. */
	readonly callNames?: readonly string[];

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

	/**
	 * Answers a request in place of the session that it came in.
	 *
	 * @returns undefined to leave it to the session
	 * @throws RpcError
	 */
	takeOver?(session: FeatureSession<Context>, id: RequestId, method: string, params: Params): Answer;

	/**
	 * Takes a message without a method.
	 *
	 * @returns whether it is a response to something that this feature asked
	 */
	takeResponse?(session: FeatureSession<unknown>, response: Params): boolean;

	/** Called when a session has ended: what is kept for it can go. */
	sessionClosed?(session: FeatureSession<unknown>): void;
}
