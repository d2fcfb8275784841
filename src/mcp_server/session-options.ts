import type { Sendable } from "../text/pieced-text.js";
import type { Wrapper } from "./json-rpc.js";
import type { CallServer } from "./tool-call.js";
import type { ToolRegistry } from "./tool-registry.js";

/** How a session reaches its client. */
export interface SessionOptions {
	/**
	 * Sends one message, in its wrapper, to the peer.
	 *
	 * @param isAnswer whether it is a response, not a notification or request
	 */
	readonly send: (text: Sendable, isAnswer: boolean) => void;
	/** The transport's wrapper around each message. Default: none. */
	readonly wrapper?: Wrapper;
	/** The largest message with a page of a list, wrapper included, in bytes. Default: that of the server. */
	readonly pageBytes?: number | undefined;
	/** Sessions with the same owner may resume each other's suspended requests. Default: the session itself. */
	readonly owner?: object;
}

/** A server, as its sessions use it. */
export interface SessionServer<Context> extends CallServer {
	readonly name: string;
	readonly version: string;
	readonly capabilities: Readonly<Record<string, object>>;
	readonly context: Context;
	readonly tools: ToolRegistry<Context>;
	/** The largest message with a page of a list, wrapper included, in bytes. */
	readonly pageBytes: number;
	/** Limit of asynchronous calls in progress per session. */
	readonly maxCalls: number;
	/** Names of members that are read in a message. */
	readonly commonNames: readonly string[];
	/** Returns the names to read a message with again; undefined if none are missing. See `McpServer`. */
	widerNames(message: unknown): readonly string[] | undefined;
	/** The open sessions. */
	readonly sessions: Pick<Set<object>, "add" | "delete">;
}
