import type { Answer, RequestId } from "../json-rpc.js";
import type { McpServer } from "../mcp-server.js";
import type { Params } from "../params.js";
import type { ToolCall } from "../tool-call.js";
import type { FeatureResult, FeatureSession } from "./feature-session.js";

/**
 * Something that a server offers besides tools, such as resources or prompts. Each is a module of its own: a feature
 * that is not imported takes neither flash nor heap.
 */
export interface Feature<Context> {
	/** Its members of the server's `capabilities`. */
	readonly capabilities: Readonly<Record<string, object>>;
	/** Names of members that it reads in messages: see {@link McpServer.allNames}. */
	readonly names: readonly string[];
	/** The members that it also reads in tool calls. Default: none. */
	readonly callNames?: readonly string[];

	/** Called once, when the server is created; gives access to its sessions. */
	attach?(server: McpServer<Context>): void;

	/**
	 * Answers a request.
	 *
	 * @param call the client, its session, and what an asynchronous request needs
	 * @returns undefined if the method does not belong to this feature
	 * @throws RpcError, also later
	 */
	answer(method: string, params: Params, call: ToolCall): FeatureResult | undefined;

	/**
	 * Answers a request instead of its session.
	 *
	 * @returns undefined to leave it to the session
	 * @throws RpcError
	 */
	takeOver?(session: FeatureSession<Context>, id: RequestId, method: string, params: Params): Answer;

	/**
	 * Takes a message without a method.
	 *
	 * @returns whether it answers a request of this feature
	 */
	takeResponse?(session: FeatureSession<unknown>, response: Params): boolean;

	/** Called when a session has ended, to release its data. */
	sessionClosed?(session: FeatureSession<unknown>): void;
}
