import { EventEmitter, once } from "node:events";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Implementation } from "@modelcontextprotocol/client";
import type { CallLimits } from "./calls.js";
import { Discovery, type DiscoveryOptions } from "./discovery.js";
import { ServerError } from "./errors.js";
import type { RegistryEvents } from "./registry-events.js";
import { SchemaChecker } from "./schema-checker.js";
import type { Server, ServerContext, ServerSettings } from "./server.js";
import { ServerDirectory, type ServerDirectoryOptions, type ServerEdit } from "./server-directory.js";
import { keepState } from "./server-notifications.js";
import { ServerOffers } from "./server-offers.js";
import type { ServerRecord } from "./server-record.js";
import type { ServerTransport } from "./server-transport.js";
import { type Capabilities, Session } from "./session.js";
import type { Uploads } from "./uploads.js";

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

const RESOURCE_UPDATED = "notifications/resources/updated";

/**
 * Every known server, online or offline. When a server connects, its identity and lists are read,
 * and its lists again whenever it reports a change.
 */
export class ServerRegistry extends EventEmitter<RegistryEvents> {
	readonly #options: ServerRegistryOptions;
	readonly #context: ServerContext;
	readonly #directory: ServerDirectory;
	readonly #offers: ServerOffers;
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
		this.#directory = new ServerDirectory(options, this.#context, {
			onChanged: () => this.#changed(),
			onEdited: (server, change) => this.emit("edited", server, change),
			onSaved: (error) => this.emit("saved", error),
		});
		this.#offers = new ServerOffers({
			discovery: new Discovery({ ...options, warn }),
			directory: this.#directory,
			uploadsOf: (session) => this.#uploadsOf(session),
			onRecord: (server, record) => this.#online(server, record),
			onFailed: (session, error) => {
				if (!(error instanceof ServerError && error.code === "server-disconnected")) {
					this.#disconnect(session, `could not list its tools, resources or prompts: ${error.message}`);
				}
			},
			warn,
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
		// A device may give the id of a configured server as its own.
		if ((transport.identity.configured === true) !== (settings !== undefined)) {
			const session = new Session(transport);
			this.emit("rejected", `${id}: the id belongs to a configured server`);
			session.close("the id belongs to a configured server");
			return session;
		}
		this.#directory.get(id)?.session?.close("the server has reconnected");
		const { maxServers = 10_000 } = this.#options;
		const isOneTooMany = this.#directory.get(id) === undefined && this.#directory.size >= maxServers;
		const server = this.#directory.open(id);
		const { capabilities, relayed, info } = this.#options;
		const more = settings === undefined ? this.#uploadsOf(transport)?.begin(transport.identity) : relayed;
		const session = new Session(transport, { ...capabilities, ...more }, info);
		session.on("invalid", (description) => this.emit("rejected", `${id}: ${description}`));
		session.once("closed", (reason) => this.#disconnected(server, session, reason));
		server.connect(session);
		this.emit("connected", server, session);
		if (isOneTooMany) {
			this.#disconnect(session, `server limit (${maxServers}) reached: forget unused devices`);
		} else {
			this.#follow(server, session);
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
		const removed = this.#directory.remove(server.id);
		this.emit("forgotten", server.id);
		await removed;
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
		if (server !== undefined) {
			await this.#directory.edit(server, change);
		}
		return server;
	}

	/**
	 * Gives a server at once the alias and tags that another gateway of a cluster has stored. They are stored here in the background.
	 * Another device that has the alias gets its default one.
	 *
	 * @returns the id of that device
	 * @throws RangeError if the alias or a tag is invalid, or the configuration chose the alias
	 */
	relabel(name: string, change: ServerEdit): string | undefined {
		const server = this.find(name);
		return server && this.#directory.relabel(server, change);
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
			server.calls.close();
		}
		const ended = Promise.all(this.#directory.all.map((server) => server.calls.idle()));
		const late = once(AbortSignal.timeout(timeout), "abort");
		await Promise.race([ended, late]);
		// Callers pass their results on first: another gateway's client gets its answer before it hears that
		// the device has gone.
		await nextTurn();
	}

	/** Ends every session, rejects every call, and settles when everything is on disk. */
	async close(): Promise<void> {
		this.#closed = true;
		for (const server of this.#directory.all) {
			server.calls.close();
			server.session?.close("shutting down");
		}
		clearTimeout(this.#changeTimer);
		await this.#context.checker.close();
		await this.#directory.flush();
	}

	/** Where a device uploads: a device of another gateway uploads there. */
	#uploadsOf({ identity }: Pick<Session, "identity">): Uploads | undefined {
		return identity.gateway === undefined ? this.#options.uploads : undefined;
	}

	#online(server: Server, record: ServerRecord): void {
		const wasOnline = server.online;
		server.discovered(wasOnline ? record : { ...record, lastSeen: Date.now() });
		if (!wasOnline) {
			if (server.session?.extensions.extensions !== undefined) {
				this.#extended.add(server);
			} else {
				this.#extended.delete(server);
			}
			this.emit("online", server);
		}
	}

	#follow(server: Server, session: Session): void {
		session.on("notification", (...event) => this.#notified(server, ...event));
		session.on("requestNotification", (...event) => this.emit("requestNotification", server, ...event));
		const { state } = session.known ?? {};
		if (state !== undefined) {
			server.state = state;
		}
		this.#offers.follow(server, session);
	}

	#notified(server: Server, method: string, params: Readonly<Record<string, unknown>>): void {
		let isState = false;
		try {
			isState = keepState(server, { method, params });
		} catch (error) {
			this.emit("rejected", `${server.id}: ${(error as Error).message}`);
		}
		this.emit("notification", server, method, params, isState);
		if (method === RESOURCE_UPDATED) {
			server.subscriptions.updated(params.uri);
		}
	}

	#disconnected(server: Server, session: Session, reason: string): void {
		const wasOnline = server.online && server.session === session;
		this.#uploadsOf(session)?.end(session.identity);
		if (server.session === session) {
			this.#extended.delete(server);
			server.disconnect();
		}
		if (!server.known) {
			void this.#directory.remove(server.id);
		} else if (wasOnline) {
			this.#directory.save(server.record);
		}
		// While the gateway stops, clients are not notified of each disconnected device.
		this.emit("disconnected", server, session, reason, wasOnline && !this.#closed);
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
