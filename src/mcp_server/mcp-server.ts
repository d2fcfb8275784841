import type { Sendable } from "../text/pieced-text.js";
import { notificationMessage, type Wrapper } from "./json-rpc.js";
import { McpSession } from "./mcp-session.js";
import type { Tool } from "./tool.js";
import { ToolRegistry } from "./tool-registry.js";

/** Room that a page of tools leaves for the wrapper, the id, and the cursor. */
const PAGE_RESERVE = 512;

export interface McpServerOptions<Context> {
	/** `serverInfo`: the board's name and the firmware's version. */
	readonly name: string;
	readonly version: string;
	/** Handed to every tool as it runs. */
	readonly context: Context;
	readonly tools?: readonly Tool<Context>[];
	/** Bytes that one message with a page of `tools/list` may have, its wrapper counted. Default 8000. */
	readonly pageBytes?: number;
	/** Asynchronous calls that may be under way at once in a session. Default 16. */
	readonly maxCalls?: number;
	readonly log?: (message: string) => void;
}

export interface SessionOptions {
	/** Hands one message, in its wrapper, to the peer. */
	readonly send: (text: Sendable) => void;
	/** What the transport wants around each message. Default: nothing. */
	readonly wrapper?: Wrapper;
}

/**
 * An MCP server (https://modelcontextprotocol.io/specification): text in, text out, no I/O of its own.
 *
 * Tools belong to the server. What is negotiated and what is under way belongs to a session, one for each connection.
 */
export class McpServer<Context> {
	readonly name: string;
	readonly version: string;
	readonly context: Context;
	readonly tools: ToolRegistry<Context>;
	readonly pageBytes: number;
	readonly maxCalls: number;
	readonly log: (message: string) => void;
	readonly #sessions = new Set<McpSession<Context>>();

	/** @throws TypeError, RangeError for a tool that {@link ToolRegistry.add} refuses */
	constructor(options: McpServerOptions<Context>) {
		this.name = options.name;
		this.version = options.version;
		this.context = options.context;
		this.pageBytes = options.pageBytes ?? 8000;
		this.maxCalls = options.maxCalls ?? 16;
		this.log = options.log ?? (() => {});
		this.tools = new ToolRegistry(this.pageBytes - PAGE_RESERVE);
		for (const tool of options.tools ?? []) {
			this.tools.add(tool);
		}
		this.tools.onChanged = () => this.notify("notifications/tools/list_changed");
	}

	/** Begins a session with a peer that has just connected. */
	open(options: SessionOptions): McpSession<Context> {
		const session = new McpSession(this, options, () => this.#sessions.delete(session));
		this.#sessions.add(session);
		return session;
	}

	/** Sends a notification to every session. */
	notify(method: string, params?: object): void {
		if (this.#sessions.size === 0) {
			return;
		}
		const message = notificationMessage(method, params && JSON.stringify(params));
		for (const session of this.#sessions) {
			session.notify(message);
		}
	}
}
