import type { Sendable } from "../text/pieced-text.js";
import type { Feature } from "./feature.js";
import { notificationMessage, type Wrapper } from "./json-rpc.js";
import { McpSession } from "./mcp-session.js";
import { isCommon, MCP_NAMES } from "./params.js";
import type { Revision } from "./revision.js";
import type { Tool } from "./tool.js";
import type { CallTimer, Client } from "./tool-call.js";
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
	/** What the server offers besides tools: one feature, or a `FeatureSet` of several. Default: nothing. */
	readonly features?: Feature<Context>;
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

/** Names of the members that messages have: of those for which `isCommon` is true, and of all. */
export interface MessageNames {
	readonly common: readonly string[];
	readonly all: readonly string[];
	isCommon(message: unknown): boolean;
}

export interface SessionOptions {
	/** Hands one message, in its wrapper, to the peer. */
	readonly send: (text: Sendable) => void;
	/** Hands over a message that is no answer, where such messages go another way. Default: `send`. */
	readonly notify?: (text: string) => void;
	/** What the transport wants around each message. Default: nothing. */
	readonly wrapper?: Wrapper;
	/** What is known of the client before `initialize`. Default: nothing. */
	readonly client?: Client;
	/** Sessions of one owner may go on with each other's suspended requests. Default: the session itself. */
	readonly owner?: object;
	/** The revision in force until `initialize` says otherwise. Default: the oldest. */
	readonly revision?: Revision;
}

/** What is known of a session from the start, because each of its requests says it: since 2026-07-28. */
export interface StatelessOptions<Context> {
	/** The session that the request came in. */
	readonly connection: McpSession<Context>;
	readonly revision: Revision;
	readonly client: Client;
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
	readonly features: Feature<Context> | undefined;
	readonly pageBytes: number;
	readonly maxCalls: number;
	readonly timer: CallTimer | undefined;
	readonly log: (message: string) => void;
	readonly #outerNames: readonly string[];
	#names: MessageNames;
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
		this.features = options.features;
		this.#outerNames = options.names ?? [];
		this.#names = this.#collectNames();
		this.tools.onChanged = () => this.changed("notifications/tools/list_changed");
		this.features?.attach?.(this);
	}

	/** The names of members that the server reads, its tools' arguments included: a parser may leave out others. */
	get names(): MessageNames {
		return this.#names;
	}

	/** What the server offers. */
	get capabilities(): Readonly<Record<string, object>> {
		return { tools: { listChanged: true }, ...this.features?.capabilities };
	}

	/** Begins a session with a peer that has just connected. */
	open(options: SessionOptions): McpSession<Context> {
		const session = new McpSession(this, options);
		this.join(session);
		return session;
	}

	/** Has a session be told what all sessions are told. */
	join(session: McpSession<Context>): void {
		this.#sessions.add(session);
	}

	/** Called by a session that ends. */
	forget(session: McpSession<Context>): void {
		this.#sessions.delete(session);
		this.features?.sessionClosed?.(session);
	}

	#collectNames(): MessageNames {
		const { names = [], callNames = [] } = this.features ?? {};
		const common = [
			...new Set([...this.#outerNames, ...MCP_NAMES.common, ...this.tools.argumentNames(), ...callNames]),
		];
		return { common, all: [...new Set([...common, ...MCP_NAMES.other, ...names])], isCommon };
	}

	/**
	 * Reads again which names are wanted.
	 *
	 * @param method tells every session by this notification that a list has changed
	 */
	changed(method?: string): void {
		this.#names = this.#collectNames();
		if (method !== undefined) {
			this.notify(method);
		}
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
