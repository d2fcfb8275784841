import { deepFreeze } from "../deep-freeze.js";
import type { Sendable } from "../text/pieced-text.js";
import type { Feature } from "./feature.js";
import { notificationMessage, type Wrapper } from "./json-rpc.js";
import { McpSession } from "./mcp-session.js";
import { MCP_NAMES } from "./params.js";
import type { Tool } from "./tool.js";
import type { CallTimer } from "./tool-call.js";
import { ToolRegistry } from "./tool-registry.js";

const NO_FEATURES: readonly Feature<never>[] = deepFreeze([]);

/** Room that a page of tools leaves for the wrapper, the id, and the cursor. */
const PAGE_RESERVE = 512;

export interface McpServerOptions<Context> {
	/** `serverInfo`: the board's name and the firmware's version. */
	readonly name: string;
	readonly version: string;
	/** Handed to every tool as it runs. */
	readonly context: Context;
	readonly tools?: readonly Tool<Context>[];
	/** What the server offers besides tools: resources, prompts, … Default: nothing. */
	readonly features?: readonly Feature<Context>[];
	/** Bytes that one message with a page of `tools/list` may have, its wrapper counted. Default 8000. */
	readonly pageBytes?: number;
	/** Asynchronous calls that may be under way at once in a session. Default 16. */
	readonly maxCalls?: number;
	/** Lets tools wait: see {@link ToolCall.sleep}. */
	readonly timer?: CallTimer;
	/** Names of members that the transport's messages have around MCP's: see {@link McpServer.names}. */
	readonly names?: readonly string[];
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
	readonly features: readonly Feature<Context>[];
	readonly pageBytes: number;
	readonly maxCalls: number;
	readonly timer: CallTimer | undefined;
	readonly log: (message: string) => void;
	readonly #outerNames: readonly string[];
	#names: readonly string[];
	readonly #sessions = new Set<McpSession<Context>>();

	/** @throws TypeError, RangeError for a tool that {@link ToolRegistry.add} refuses */
	constructor(options: McpServerOptions<Context>) {
		this.name = options.name;
		this.version = options.version;
		this.context = options.context;
		this.pageBytes = options.pageBytes ?? 8000;
		this.maxCalls = options.maxCalls ?? 16;
		this.timer = options.timer;
		this.log = options.log ?? (() => {});
		this.tools = new ToolRegistry(this.pageBytes - PAGE_RESERVE);
		for (const tool of options.tools ?? []) {
			this.tools.add(tool);
		}
		this.features = options.features ?? NO_FEATURES;
		this.#outerNames = options.names ?? [];
		this.#names = this.#collectNames();
		this.tools.onChanged = () => this.changed("notifications/tools/list_changed");
		for (const feature of this.features) {
			feature.attach?.(this);
		}
	}

	/** What the server can do, as `initialize` tells it. */
	get capabilities(): object {
		return Object.assign({ tools: { listChanged: true } }, ...this.features.map(({ capabilities }) => capabilities));
	}

	/** Every name of a member that the server reads, its tools' arguments included: what a parser may leave out others for. */
	get names(): readonly string[] {
		return this.#names;
	}

	/** Begins a session with a peer that has just connected. */
	open(options: SessionOptions): McpSession<Context> {
		const session = new McpSession(this, options, () => this.#forget(session));
		this.#sessions.add(session);
		return session;
	}

	#collectNames(): readonly string[] {
		const featureNames = this.features.flatMap(({ names }) => names);
		return [...new Set([...this.#outerNames, ...MCP_NAMES, ...featureNames, ...this.tools.argumentNames()])];
	}

	#forget(session: McpSession<Context>): void {
		this.#sessions.delete(session);
		for (const feature of this.features) {
			feature.sessionClosed?.(session);
		}
	}

	/** Tells every session by this notification that a list has changed, and reads the names in it again. */
	changed(method: string): void {
		this.#names = this.#collectNames();
		this.notify(method);
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
