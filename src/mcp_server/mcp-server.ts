import {
	CALL_TOOL,
	COMMON_NAMES,
	INITIALIZE,
	INITIALIZE_NAMES,
	LIST_TOOLS,
	notificationMessage,
	OTHER_NAMES,
	type Params,
	PING,
} from "./json-rpc.js";
import { McpSession, type SessionOptions } from "./mcp-session.js";
import type { Tool } from "./tool.js";
import type { CallTimer } from "./tool-call.js";
import { ToolRegistry } from "./tool-registry.js";
import { memberNames } from "./validate.js";

/** Bytes of a page reserved for the wrapper, the id and the cursor. */
const PAGE_RESERVE = 512;

const unique = (names: readonly string[]): readonly string[] => [...new Set(names)];

/** The description, tools and limits of a server. */
export interface McpServerOptions<Context> {
	/** `serverInfo`: the board's name and the firmware's version. */
	readonly name: string;
	readonly version: string;
	/** Passed to every tool. */
	readonly context: Context;
	readonly tools?: readonly Tool<Context>[];
	/** The largest message with a page of `tools/list`, wrapper included, in bytes. Default 8000. */
	readonly pageBytes?: number;
	/** Timer of tools that wait: see `ToolCall.sleep`. */
	readonly timer?: CallTimer;
	/** Names of members that the transport adds around MCP messages: see {@link McpServer.commonNames}. */
	readonly names?: readonly string[];
	/** Called with errors that no answer reports. Default: nothing is logged. */
	readonly log?: (message: string) => void;
}

/**
 * An MCP server (https://modelcontextprotocol.io/specification): text in, text out, without I/O.
 *
 * Tools belong to the server. Negotiated values and calls in progress belong to a session, one per connection.
 */
export class McpServer<Context> {
	readonly name: string;
	readonly version: string;
	readonly context: Context;
	readonly tools: ToolRegistry<Context>;
	readonly pageBytes: number;
	readonly timer: CallTimer | undefined;
	/** Called with errors that no answer reports. */
	readonly log: (message: string) => void;
	private readonly outerNames: readonly string[];
	/** The names of the tools whose arguments are in `commonNames`. */
	private called: string[] = [];
	/**
	 * The names of members that the server reads in common messages: a parser may skip others. A tool's arguments are
	 * added at its first call, because XS takes memory and time for each name in each message.
	 */
	commonNames: readonly string[];
	private _initializeNames: readonly string[] | undefined;
	private _allNames: readonly string[] | undefined;
	/** The sessions that receive notifications to all. */
	readonly sessions = new Set<McpSession<Context>>();

	/** @throws TypeError, RangeError for a tool that {@link ToolRegistry.add} rejects */
	constructor(options: McpServerOptions<Context>) {
		this.name = options.name;
		this.version = options.version;
		this.context = options.context;
		this.pageBytes = options.pageBytes ?? 8000;
		this.timer = options.timer;
		this.log = options.log ?? (() => {});
		this.tools = new ToolRegistry(this.pageBytes - PAGE_RESERVE);
		for (const tool of options.tools ?? []) {
			this.tools.add(tool);
		}
		this.outerNames = options.names ?? [];
		this.commonNames = this.listCommonNames();
		this.tools.onChanged = () => this.changed("notifications/tools/list_changed");
	}

	/** The names of members that the server reads in `initialize`. */
	get initializeNames(): readonly string[] {
		this._initializeNames ??= this.outerNames.concat(INITIALIZE_NAMES);
		return this._initializeNames;
	}

	/** The names of members that the server reads in any message. */
	get allNames(): readonly string[] {
		this._allNames ??= unique(this.commonNames.concat(this.tools.argumentNames(), OTHER_NAMES));
		return this._allNames;
	}

	/** Names of members that features read in calls. */
	protected get callNames(): readonly string[] {
		return [];
	}

	/**
	 * Returns the names for a second parse of a message; undefined if the first one read all it needs. A tool's arguments
	 * become common at its first call. Messages other than tool calls, `tools/list` and `ping` need all names.
	 *
	 * @param isFirst whether it was parsed with `initializeNames`
	 */
	widerNames(message: unknown, isFirst?: boolean): readonly string[] | undefined {
		const method = (message as Params | null | undefined)?.method;
		if (isFirst) {
			return method === INITIALIZE ? undefined : this.allNames;
		}
		if (method === CALL_TOOL) {
			const name = ((message as Params).params as Params | null | undefined)?.name as string;
			if (this.called.includes(name)) {
				return undefined;
			}
			const tool = this.tools.byName.get(name);
			if (tool === undefined || tool.takesCalls) {
				return tool && this.allNames;
			}
			this.called.push(name);
			this.commonNames = this.listCommonNames();
			return this.commonNames;
		}
		return method === LIST_TOOLS || method === PING ? undefined : this.allNames;
	}

	private listCommonNames(): readonly string[] {
		const ofArguments = this.called.flatMap((name) => memberNames(this.tools.byName.get(name) as Tool<Context>));
		return unique(this.outerNames.concat(COMMON_NAMES, this.callNames, ofArguments));
	}

	/** The server's capabilities. */
	get capabilities(): Readonly<Record<string, object>> {
		return { tools: { listChanged: true } };
	}

	/** Starts a session with a newly connected peer. */
	open(options: SessionOptions): McpSession<Context> {
		const session = new McpSession(this, options);
		this.sessions.add(session);
		return session;
	}

	/** Updates the wanted names, and notifies every session that a list has changed. @param method of the notification */
	changed(method: string): void {
		this.forgetNames();
		this.notify(method);
	}

	/** Resets the wanted names, without the arguments of called tools. */
	forgetNames(): void {
		this.called = [];
		this.commonNames = this.listCommonNames();
		this._allNames = undefined;
	}

	/** Sends a notification to every session. */
	notify(method: string, params?: object): void {
		const message = notificationMessage(method, params);
		for (const session of this.sessions) {
			session.notify(message);
		}
	}
}
