import { type CallContext, type CallLimits, type CallPolicy, Calls } from "./calls.js";
import type { Listed } from "./discovery.js";
import { LISTS, type ListName, type Offers, type ServerTool } from "./offers.js";
import type { ServerInfo } from "./server-transport.js";
import type { Session } from "./session.js";
import { Subscriptions } from "./subscriptions.js";

/** The record of a server, kept while it is offline and across restarts. */
export interface ServerRecord {
	/** See {@link ServerIdentity.id}. */
	readonly id: string;
	/** How clients address it. No two servers share one. */
	readonly alias: string;
	/** The operator's tags, shared with other servers: "upstairs". Absent: none. */
	readonly tags?: readonly string[];
	/** The server's own name and version: of a device, its board and firmware version. */
	readonly board: ServerInfo;
	readonly offers: Offers;
	/** When it was last seen, in milliseconds since 1970. While it is online: when it came online. */
	readonly lastSeen: number;
}

/** A server's notification. */
export interface Notification {
	readonly method: string;
	readonly params: Readonly<Record<string, unknown>>;
}

/** A notification of a button or a sensor. */
export interface DeviceEvent extends Notification {
	/** When it arrived, in milliseconds since 1970. */
	readonly time: number;
}

/** The context that all servers of a registry share. */
export interface ServerContext extends CallContext {
	/** A resource that clients have subscribed to has been updated. */
	readonly onUpdated: (server: Server, uri: string) => void;
	readonly warn: (message: string) => void;
}

/** The gateway's settings for a configured server. */
export interface ServerSettings extends CallLimits, CallPolicy {
	/** The alias that it gets, unless another server has it. */
	readonly alias: string;
	/** Whether clients may see and call this tool. */
	readonly offers: (tool: string) => boolean;
}

/**
 * An MCP server behind the gateway: a device or a configured server. It outlives its sessions: while it is offline,
 * clients still see it and calls wait.
 */
export class Server {
	readonly id: string;
	/** Whether the gateway's configuration names it: it is not a device. */
	readonly configured: boolean;
	/** Calls and other requests to it. */
	readonly calls: Calls;
	readonly #context: ServerContext;
	#record: ServerRecord | undefined;
	#session: Session | undefined;
	#online = false;
	/** The last state that a device has reported: "idle", "speaking", … Undefined if it has reported none, and while it is offline. */
	state: string | undefined;
	/** The last notification of a button or sensor. Undefined before the first one, and while it is offline. */
	event: DeviceEvent | undefined;
	/** The lists that could not be read in its current session, and why: then the last ones known stand. Undefined: none. */
	#failedLists: Map<ListName, string> | undefined;
	/** Undefined until a client follows a resource. */
	#subscriptions: Subscriptions | undefined;

	/** @param settings of a configured server */
	constructor(id: string, context: ServerContext, settings?: ServerSettings) {
		this.id = id;
		this.configured = settings !== undefined;
		this.#context = context;
		// Devices share one object: there are thousands.
		this.calls = new Calls(this, settings === undefined ? context : { ...context, ...settings }, settings);
	}

	/** The resources that clients follow. */
	get subscriptions(): Subscriptions {
		if (this.#subscriptions === undefined) {
			const { warn, onUpdated } = this.#context;
			this.#subscriptions = new Subscriptions((uri) => onUpdated(this, uri), warn);
			if (this.#online && this.#session !== undefined) {
				this.#subscriptions.online(this.#session);
			}
		}
		return this.#subscriptions;
	}

	/** Whether it has ever been discovered. Until then, clients do not see it. */
	get known(): boolean {
		return this.#record !== undefined;
	}

	/** Its record. Only for a known server. */
	get record(): ServerRecord {
		if (this.#record === undefined) {
			throw new TypeError(`${this.id} has not been discovered`);
		}
		return this.#record;
	}

	get alias(): string {
		return this.record.alias;
	}

	/** The operator's tags, shared with other devices. */
	get tags(): readonly string[] {
		return this.record.tags ?? [];
	}

	get board(): ServerInfo {
		return this.record.board;
	}

	/** Its lists. */
	get offers(): Offers {
		return this.record.offers;
	}

	get tools(): readonly ServerTool[] {
		return this.offers.tools;
	}

	get lastSeen(): number {
		return this.record.lastSeen;
	}

	/** Its current session, whether or not its tools are known yet. */
	get session(): Session | undefined {
		return this.#session;
	}

	/** Whether it can be called: it is in a session, and its tools are known. */
	get online(): boolean {
		return this.#online;
	}

	/** Problems of its lists: "resources/list: Internal error". Empty while it is offline. */
	get listProblems(): readonly string[] {
		return [...(this.#failedLists ?? [])].map(([list, problem]) => `${LISTS[list].method}: ${problem}`);
	}

	/**
	 * Notes which lists were read, or could not be.
	 *
	 * @returns the new problems
	 */
	noteLists({ offers, failures }: Listed): string[] {
		for (const list of Object.keys(offers) as ListName[]) {
			this.#failedLists?.delete(list);
		}
		const before = new Set(this.listProblems);
		for (const [list, { message }] of failures) {
			this.#failedLists ??= new Map();
			this.#failedLists.set(list, message);
		}
		return this.listProblems.filter((problem) => !before.has(problem));
	}

	/** Its record has changed elsewhere. */
	update(record: ServerRecord): void {
		this.#record = record;
	}

	/** A session has begun. The one before it is over, although its connection may take a moment to close. */
	connect(session: Session): void {
		this.disconnect();
		this.#session = session;
	}

	/** Its record was read or confirmed in its current session: it can be called. */
	discovered(record: ServerRecord): void {
		this.#record = record;
		if (!this.#online && this.#session !== undefined) {
			this.#online = true;
			this.#subscriptions?.online(this.#session);
			this.calls.online(this.#session);
		}
	}

	/** Its session has ended. */
	disconnect(): void {
		this.#session = undefined;
		this.#failedLists = undefined;
		this.state = undefined;
		this.event = undefined;
		if (this.#online) {
			this.#online = false;
			this.#record = { ...this.record, lastSeen: Date.now() };
			this.#subscriptions?.offline();
			this.calls.offline();
		}
	}
}

/** Whether a tool is only for users, not for the models in MCP clients. */
export function isUserOnly({ annotations }: ServerTool): boolean {
	const { audience } = (annotations ?? {}) as { audience?: unknown };
	return Array.isArray(audience) && audience.length === 1 && audience[0] === "user";
}
