import { EventEmitter, once } from "node:events";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Implementation } from "@modelcontextprotocol/client";
import { Discovery, type DiscoveryOptions, type Listed } from "./discovery.js";
import { ServerError } from "./errors.js";
import { followOffers } from "./follow-offers.js";
import { type ListName, NO_OFFERS, type Offers } from "./offers.js";
import { SchemaChecker } from "./schema-checker.js";
import type {
	CallDetails,
	CallLimits,
	CallRecord,
	Notification,
	Server,
	ServerContext,
	ServerRecord,
	ServerSettings,
	Uploads,
} from "./server.js";
import { ServerDirectory, type ServerDirectoryOptions, type ServerEdit } from "./server-directory.js";
import { type Capabilities, type ServerIdentity, type ServerInfo, type ServerTransport, Session } from "./session.js";

export interface ServerRegistryOptions extends CallLimits, ServerDirectoryOptions, Omit<DiscoveryOptions, "warn"> {
	/** Most known servers. Default 10,000. Beyond that a new one is disconnected. */
	readonly maxServers?: number;
	/** The name and version sent in `initialize`. Default: those of this package. */
	readonly info?: Implementation;
	/** The capabilities sent in `initialize`. */
	readonly capabilities?: Capabilities;
	/**
	 * Further capabilities sent to configured servers, whose questions go to the client of the current request. Default:
	 * none.
	 */
	readonly relayed?: Capabilities;
	/** Where devices upload files during calls. Default: nowhere. */
	readonly uploads?: Uploads | undefined;
	/** Milliseconds for which changes are collected before clients are notified. Default 250. */
	readonly changeDelay?: number;
}

interface Events {
	/** A session has begun. */
	connected: [server: Server, session: Session];
	/** A session has ended. */
	disconnected: [server: Server, session: Session, reason: string];
	/** A server can be called. */
	online: [server: Server];
	/** A server sent a notification; progress and cancellation go to their calls. */
	notification: [server: Server, method: string, params: Readonly<Record<string, unknown>>];
	/** A server sent progress of a call, or cancelled a request of its own. */
	requestNotification: [server: Server, method: string, params: Readonly<Record<string, unknown>>];
	/** The content of `device://ALIAS/state` has changed; `cause` is the server's notification of it, if any. */
	stateChanged: [server: Server, cause?: Notification];
	/** Servers, tools or names have changed: once for a burst of changes. {@link ServerRegistry.version} has increased. */
	changed: [];
	/** A resource of a server that clients have subscribed to has been updated. */
	updated: [server: Server, uri: string];
	/** A call has ended. */
	call: [record: CallRecord, details: CallDetails];
	/** A connection or a message was rejected. */
	rejected: [description: string];
	/** A record was stored, or why it could not be. */
	saved: [error: Error | undefined];
	/** A warning, other than a failed call. */
	warning: [message: string];
}

const RESOURCE_UPDATED = "notifications/resources/updated";
const STATE_CHANGED = "notifications/state_changed";

/** Notifications of buttons, sensors, switches, timers and the conversation, which are forwarded to clients. */
const EVENTS = new Set(
	["button_pressed", "sensor_changed", "switch_changed", "timer_due", "said"].map((event) => `notifications/${event}`),
);

/** Characters of an event's params, as JSON. */
const MAX_EVENT = 1_024;

/** Characters of a device's state that are stored. */
const MAX_STATE = 64;

/**
 * Every known server, online or offline. When a server connects, its identity and lists are read,
 * and its lists again whenever it reports a change.
 */
export class ServerRegistry extends EventEmitter<Events> {
	readonly #options: ServerRegistryOptions;
	readonly #context: ServerContext;
	readonly #discovery: Discovery;
	readonly #directory: ServerDirectory;
	readonly #extended = new Set<Server>();
	#changeTimer: NodeJS.Timeout | undefined;
	#closed = false;

	private constructor(options: ServerRegistryOptions) {
		super();
		// One listener per client.
		this.setMaxListeners(0);
		this.#options = options;
		const warn = (message: string): void => void this.emit("warning", message);
		this.#context = {
			...options,
			checker: new SchemaChecker(warn),
			onCall: (record, details) => this.emit("call", record, details),
			onUpdated: (server, uri) => this.emit("updated", server, uri),
			warn,
		};
		this.#discovery = new Discovery({ ...options, warn });
		this.#directory = new ServerDirectory(options, this.#context, {
			onChanged: () => this.#changed(),
			onSaved: (error) => this.emit("saved", error),
		});
	}

	/**
	 * Reads what is on disk.
	 *
	 * Rejects with a RangeError if an alias is not valid or the folder cannot be used.
	 *
	 * @param onWarning is told of warnings from the start, about damaged files for example
	 */
	static async open(
		options: ServerRegistryOptions = {},
		onWarning?: (message: string) => void,
	): Promise<ServerRegistry> {
		const registry = new ServerRegistry(options);
		if (onWarning !== undefined) {
			registry.on("warning", onWarning);
		}
		await registry.#directory.load();
		return registry;
	}

	/** Increases whenever a server was added or removed, or has other tools or another alias. */
	get version(): number {
		return this.#directory.version;
	}

	/** Every known server, by alias. */
	get all(): readonly Server[] {
		return this.#directory.known;
	}

	/** The servers that are online and have extensions which clients can use. */
	get extended(): ReadonlySet<Server> {
		return this.#extended;
	}

	/** Every session, also of servers that are not known yet. */
	get sessions(): Session[] {
		return this.#directory.all.flatMap(({ session }) => session ?? []);
	}

	/** The session of the server with this id, whether or not the server is known yet. */
	sessionOf(id: string): Session | undefined {
		return this.#directory.get(id)?.session;
	}

	/** A known server, by alias or else by id. */
	find(name: string): Server | undefined {
		return this.#directory.find(name);
	}

	/**
	 * Reserves an id for a configured server: from now on, no device can have it, nor the alias that follows from it.
	 *
	 * @throws RangeError if another configured server has this id
	 */
	configure(id: string, settings: ServerSettings): void {
		this.#directory.configure(id, settings);
	}

	/** Forgets a configured server, which must have been disconnected. */
	unconfigure(id: string): void {
		this.#directory.unconfigure(id);
	}

	/**
	 * Starts a session over a connection. An earlier session of the same server ends.
	 *
	 * @returns the session, which is closed if the discovery fails or the limit of servers is reached
	 */
	connect(transport: ServerTransport): Session {
		const { id } = transport.identity;
		const settings = this.#directory.settingsOf(id);
		if ((transport.identity.configured === true) !== (settings !== undefined)) {
			return this.#rejectTaken(transport);
		}
		this.#directory.get(id)?.session?.close("the server has reconnected");
		const { maxServers = 10_000 } = this.#options;
		const isOneTooMany = this.#directory.get(id) === undefined && this.#directory.size >= maxServers;
		const server = this.#directory.open(id);
		const { capabilities, relayed, info } = this.#options;
		const more = settings === undefined ? this.#uploadsOf(transport.identity)?.begin(transport.identity) : relayed;
		const session = new Session(transport, { ...capabilities, ...more }, info);
		session.on("invalid", (description) => this.emit("rejected", `${id}: ${description}`));
		session.once("closed", (reason) => this.#disconnected(server, session, reason));
		server.connect(session);
		this.emit("connected", server, session);
		if (isOneTooMany) {
			this.#disconnect(session, `server limit (${maxServers}) reached: forget unused devices`);
		} else {
			this.#discover(server, session);
		}
		return session;
	}

	/** Adds a device that another gateway knows: offline, until it connects. No effect if the id is in use, or the limit reached. */
	addOffline(record: ServerRecord): void {
		const { maxServers = 10_000 } = this.#options;
		if (this.#directory.get(record.id) === undefined && this.#directory.size < maxServers) {
			this.#directory.add(record);
		}
	}

	/** A device that gives the id of a configured server as its own. */
	#rejectTaken(transport: ServerTransport): Session {
		const session = new Session(transport);
		this.emit("rejected", `${transport.identity.id}: the id belongs to a configured server`);
		session.close("the id belongs to a configured server");
		return session;
	}

	/**
	 * Removes a server and its tools. Settles when that is on disk.
	 *
	 * Rejects with Error if the server is in a session (it would be known again at once), or the disk cannot be written.
	 *
	 * @returns whether it was known
	 */
	async forget(name: string): Promise<boolean> {
		const server = this.find(name);
		if (server === undefined) {
			return false;
		}
		if (server.session !== undefined) {
			throw new Error(`${server.alias} is online: disconnect it first`);
		}
		await this.#directory.remove(server.id);
		return true;
	}

	/**
	 * Gives a server another alias, other tags, or both, and notifies clients. Settles when that is on disk: what cannot be
	 * stored is not changed.
	 *
	 * Rejects with RangeError when the alias is invalid or another server's, or a tag is invalid, or the configuration chose the
	 * server's; with another Error if the disk cannot be written.
	 *
	 * @returns the server; undefined if it is unknown
	 */
	async edit(name: string, change: ServerEdit): Promise<Server | undefined> {
		const server = this.find(name);
		if (server !== undefined && isEdit(server, change)) {
			await this.#directory.edit(server, change);
		}
		return server;
	}

	/**
	 * Gives a server at once the alias and tags that another gateway of a cluster has stored. They are stored here in the background.
	 *
	 * @throws RangeError as {@link edit} rejects
	 */
	relabel(name: string, change: ServerEdit): void {
		const server = this.find(name);
		if (server !== undefined && isEdit(server, change)) {
			this.#directory.relabel(server, change);
		}
	}

	/** Emits that a connection or a message was rejected. */
	reject(description: string): void {
		this.emit("rejected", description);
	}

	/**
	 * Rejects the waiting calls, and settles when the running ones and other requests have ended.
	 *
	 * @param timeout milliseconds after which it settles in any case
	 */
	async drain(timeout: number): Promise<void> {
		for (const server of this.#directory.all) {
			server.close();
		}
		const ended = Promise.all(this.#directory.all.map((server) => server.idle()));
		const late = once(AbortSignal.timeout(timeout), "abort");
		await Promise.race([ended, late]);
		// Whoever made the requests passes their results on first: another gateway's client gets its answer before it hears that
		// the device has gone.
		await nextTurn();
	}

	/** Ends every session, rejects every call, and settles when everything is on disk. */
	async close(): Promise<void> {
		this.#closed = true;
		for (const server of this.#directory.all) {
			server.close();
			server.session?.close("shutting down");
		}
		clearTimeout(this.#changeTimer);
		await this.#context.checker.close();
		await this.#directory.flush();
	}

	/** Reads a server's identity and lists, and follows changes to the end of its session. */
	#discover(server: Server, session: Session): void {
		session.on("notification", (method, params) => this.#notified(server, { method, params }));
		session.on("requestNotification", (...event) => this.emit("requestNotification", server, ...event));
		const { state } = session.known ?? {};
		if (state !== undefined) {
			server.state = state;
		}
		void followOffers(session, this.#discovery, {
			onBoard: (board) => {
				if (server.known && sameJson(server.board, board)) {
					// Unchanged firmware: the known tools can be called while its lists are read again.
					this.#online(server, server.record);
				}
			},
			onListed: (board, listed) => this.#learn(server, session, board, listed),
			onFailed: (error) => {
				if (!(error instanceof ServerError && error.code === "server-disconnected")) {
					this.#disconnect(session, `could not list its tools, resources or prompts: ${error.message}`);
				}
			},
		});
	}

	#learn(server: Server, session: Session, board: ServerInfo, listed: Listed): void {
		if (server.session !== session || this.#closed) {
			return;
		}
		for (const problem of server.noteLists(listed)) {
			this.emit("warning", `${server.id}: could not read ${problem}`);
		}
		const before = server.known ? server.record : undefined;
		const offers = this.#mergeOffers(server.id, before?.offers ?? NO_OFFERS, listed.offers);
		const record = {
			...before,
			id: server.id,
			alias: this.#directory.aliasFor(server, board.name),
			board,
			offers,
			lastSeen: server.online && before ? before.lastSeen : Date.now(),
		};
		this.#online(server, record);
		if (offers !== before?.offers || !sameJson(before.board, board)) {
			this.#directory.save(record);
		}
		if (record.alias !== before?.alias) {
			this.#directory.renamed();
		} else if (offers !== before.offers) {
			this.#directory.changed();
		}
	}

	/** The tools of a server that clients can see. */
	#offered(id: string, tools: Offers["tools"]): Offers["tools"] {
		const settings = this.#directory.settingsOf(id);
		if (settings !== undefined) {
			return tools.filter(({ name }) => settings.offers(name));
		}
		const identity = this.#directory.get(id)?.session?.identity;
		return (identity && this.#uploadsOf(identity)?.offered(tools)) ?? tools;
	}

	/** Where a device uploads: a device of another gateway uploads there. */
	#uploadsOf({ gateway }: ServerIdentity): Uploads | undefined {
		return gateway === undefined ? this.#options.uploads : undefined;
	}

	/** An unchanged list is the same object, and so are the offers if no list has changed: what is made from them stays valid. */
	#mergeOffers(id: string, before: Offers, { tools, ...others }: Partial<Offers>): Offers {
		const listed = this.#directory.lists.shareAll({
			...others,
			...(tools && { tools: this.#offered(id, tools) }),
		});
		const isSame = Object.entries(listed).every(([list, items]) => before[list as ListName] === items);
		return isSame ? before : this.#directory.lists.offers({ ...before, ...listed });
	}

	#online(server: Server, record: ServerRecord): void {
		const wasOnline = server.online;
		server.discovered(wasOnline ? record : { ...record, lastSeen: Date.now() });
		if (!wasOnline) {
			if (server.session?.extensions.extensions !== undefined) {
				this.#extended.add(server);
			}
			this.emit("online", server);
			this.emit("stateChanged", server);
		}
	}

	#notified(server: Server, notification: Notification): void {
		const { method, params } = notification;
		this.emit("notification", server, method, params);
		if (method === STATE_CHANGED && typeof params.newState === "string") {
			server.state = params.newState.slice(0, MAX_STATE);
			this.#stateChanged(server, notification);
		} else if (EVENTS.has(method)) {
			this.#tellEvent(server, notification);
		} else if (method === RESOURCE_UPDATED) {
			server.subscriptions.updated(params.uri);
		}
	}

	#tellEvent(server: Server, event: Notification): void {
		if (JSON.stringify(event.params).length > MAX_EVENT) {
			this.emit("rejected", `${server.id}: ${event.method} is too long (limit ${MAX_EVENT} characters)`);
			return;
		}
		server.event = { ...event, time: Date.now() };
		this.#stateChanged(server, event);
	}

	/** A server may speak before it is known: then it has no name yet under which clients could be told. */
	#stateChanged(server: Server, cause: Notification): void {
		if (server.known) {
			this.emit("stateChanged", server, cause);
		}
	}

	#disconnected(server: Server, session: Session, reason: string): void {
		const wasOnline = server.online && server.session === session;
		this.#uploadsOf(session.identity)?.end(session.identity);
		if (server.session === session) {
			this.#extended.delete(server);
			server.disconnect();
		}
		if (!server.known) {
			void this.#directory.remove(server.id);
		} else if (wasOnline) {
			this.#directory.save(server.record);
			// While the gateway stops, clients are not notified of each disconnected device.
			if (!this.#closed) {
				this.emit("stateChanged", server);
			}
		}
		this.emit("disconnected", server, session, reason);
	}

	/** Ends a session that cannot be used. The server may connect again. The status of a configured server says why. */
	#disconnect(session: Session, reason: string): void {
		if (!this.#closed && !session.identity.configured) {
			this.emit("warning", `${session.identity.id}: disconnected: ${reason}`);
		}
		session.close(reason);
	}

	#changed(): void {
		// Thousands of devices may connect at the same time.
		this.#changeTimer ??= setTimeout(() => {
			this.#changeTimer = undefined;
			this.emit("changed");
		}, this.#options.changeDelay ?? 250);
	}
}

/** Whether it would change something. */
function isEdit(server: Server, { alias = server.alias, tags = server.tags }: ServerEdit): boolean {
	return alias !== server.alias || !sameJson(tags, server.tags);
}

function sameJson(one: unknown, other: unknown): boolean {
	return JSON.stringify(one) === JSON.stringify(other);
}
