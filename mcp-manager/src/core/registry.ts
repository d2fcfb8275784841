import { once } from "node:events";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Implementation } from "@modelcontextprotocol/client";
import type { Uploads } from "./calls.js";
import { coalesced } from "./coalesced.js";
import { Discovery, type DiscoveryOptions, type Listed } from "./discovery.js";
import { ServerError } from "./errors.js";
import { LIST_NAMES, LISTS, type ListName, NO_OFFERS, type Offers } from "./offers.js";
import type { Server, ServerRecord } from "./server.js";
import { ServerDirectory, type ServerDirectoryOptions } from "./server-directory.js";
import { keepState } from "./server-notifications.js";
import type { ServerInfo, ServerTransport } from "./server-transport.js";
import { type Capabilities, Session } from "./session.js";

export interface ServerRegistryOptions extends ServerDirectoryOptions, Omit<DiscoveryOptions, "warn"> {
	/** The name and version sent in `initialize`. Default: those of this package. */
	readonly info?: Implementation;
	/** The capabilities sent in `initialize`. */
	readonly capabilities?: Capabilities;
	/**
	 * Further capabilities sent to configured servers, whose questions go to the client of the current request. Default:
	 * none.
	 */
	readonly relayed?: Capabilities;
}

const RESOURCE_UPDATED = "notifications/resources/updated";

/**
 * Every known server, online or offline. When a server connects, its identity and lists are read,
 * and its lists again whenever it reports a change.
 */
export class ServerRegistry extends ServerDirectory {
	readonly #options: ServerRegistryOptions;
	readonly #discovery: Discovery;
	readonly #extended = new Set<Server>();
	#closed = false;

	private constructor(options: ServerRegistryOptions) {
		super(options);
		this.#options = options;
		this.#discovery = new Discovery({ ...options, warn: this.warn });
	}

	/**
	 * Reads the store. Rejects with a RangeError if an alias is not valid.
	 *
	 * @param onWarning is told of warnings from the start, about damaged records for example
	 */
	static async open(
		options: ServerRegistryOptions = {},
		onWarning?: (message: string) => void,
	): Promise<ServerRegistry> {
		const registry = new ServerRegistry(options);
		if (onWarning !== undefined) {
			registry.on("warning", onWarning);
		}
		registry.load();
		return registry;
	}

	/** The servers that are online and have extensions which clients can use. */
	get extended(): ReadonlySet<Server> {
		return this.#extended;
	}

	/** Every session, also of servers that are not known yet. */
	get sessions(): Session[] {
		return this.servers.flatMap(({ session }) => session ?? []);
	}

	/**
	 * Starts a session over a connection. An earlier session of the same server ends.
	 *
	 * @returns the session, which is closed if the discovery fails or the limit of servers is reached
	 */
	connect(transport: ServerTransport): Session {
		const { id } = transport.identity;
		const isConfigured = this.settingsOf(id) !== undefined;
		// A device may give the id of a configured server as its own.
		if ((transport.identity.configured === true) !== isConfigured) {
			const session = new Session(transport);
			this.reject(`${id}: the id belongs to a configured server`);
			session.close("the id belongs to a configured server");
			return session;
		}
		this.get(id)?.session?.close("the server has reconnected");
		const isOneTooMany = this.get(id) === undefined && this.isFull;
		const server = this.open(id);
		const { capabilities, relayed, info } = this.#options;
		const more = isConfigured ? relayed : this.#uploadsOf(transport)?.begin(transport.identity);
		const session = new Session(transport, { ...capabilities, ...more }, info);
		session.on("invalid", (description) => this.reject(`${id}: ${description}`));
		session.once("closed", (reason) => this.#disconnected(server, session, reason));
		server.connect(session);
		this.emit("connected", server, session);
		if (isOneTooMany) {
			this.#disconnect(session, `server limit (${this.maxServers}) reached: forget unused devices`);
		} else {
			this.#follow(server, session);
		}
		return session;
	}

	/**
	 * Removes a device, its tools, alias and tags. Settles when that is stored.
	 *
	 * Rejects with Error if it is in a session (it would be known again at once), and with StoreError.
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
		await this.forgetDevice(server.id);
		return true;
	}

	/**
	 * Rejects the waiting calls, and settles when the running ones and other requests have ended.
	 *
	 * @param timeout milliseconds after which it settles in any case
	 */
	async drain(timeout: number): Promise<void> {
		for (const server of this.servers) {
			server.calls.close();
		}
		const ended = Promise.all(this.servers.map((server) => server.calls.idle()));
		const late = once(AbortSignal.timeout(timeout), "abort");
		await Promise.race([ended, late]);
		// Callers pass their results on first: another gateway's client gets its answer before it hears that
		// the device has gone.
		await nextTurn();
	}

	/** Ends every session, rejects every call, and settles when everything is stored. */
	override async close(): Promise<void> {
		this.#closed = true;
		for (const server of this.servers) {
			server.calls.close();
			server.session?.close("shutting down");
		}
		await super.close();
	}

	/** Where a device uploads: a device of another gateway uploads there. */
	#uploadsOf({ identity }: Pick<Session, "identity">): Uploads | undefined {
		return identity.gateway === undefined ? this.#options.uploads : undefined;
	}

	#follow(server: Server, session: Session): void {
		session.on("notification", (...event) => {
			// A session that another one has replaced is about to end: its gateway has recorded the event.
			if (server.session === session) {
				this.#notified(server, ...event);
			}
		});
		session.on("requestNotification", (...event) => this.emit("requestNotification", server, ...event));
		if (session.known === undefined) {
			this.#discover(server, session).catch((error: Error) => this.#discoveryFailed(session, error));
			return;
		}
		server.state = session.known.state ?? server.state;
		// Another gateway reads the lists before it sends a notification.
		const learn = (): void => {
			if (session.known !== undefined) {
				const { info, offers } = session.known;
				this.#learn(server, session, info, { offers, failures: new Map() });
			}
		};
		session.on("notification", (method) => changedLists(method).length > 0 && learn());
		learn();
	}

	/** Reads a server's identity and lists, and follows changes to the end of its session. Rejects if it does not answer properly. */
	async #discover(server: Server, session: Session): Promise<void> {
		const outdated = new Set(LIST_NAMES);
		let board: ServerInfo | undefined;
		/** Whether any list was read. After that, a list that cannot be read stays as it was. */
		let isListed = false;
		const report = (listed: Listed): void => {
			const [failure] = listed.failures.values();
			isListed ||= Object.keys(listed.offers).length > 0;
			if (!isListed && failure !== undefined) {
				this.#discoveryFailed(session, failure);
			} else if (board !== undefined) {
				this.#learn(server, session, board, listed);
			}
		};
		const read = coalesced(async () => {
			if (board !== undefined && session.connected) {
				const lists = [...outdated];
				outdated.clear();
				await this.#discovery.list(session, lists, report);
			}
		});
		session.on("notification", (method) => {
			const changed = changedLists(method);
			if (changed.length > 0) {
				for (const list of changed) {
					outdated.add(list);
				}
				read().catch((error: Error) => this.#discoveryFailed(session, error));
			}
		});
		board = await session.initialize();
		if (server.known && sameJson(server.board, board)) {
			// Unchanged firmware: the known tools can be called while its lists are read again.
			this.#online(server, server.record);
		}
		await read();
	}

	/** The server did not answer properly: no list of it can be read. */
	#discoveryFailed(session: Session, error: Error): void {
		if (!(error instanceof ServerError && error.code === "server-disconnected")) {
			this.#disconnect(session, `could not list its tools, resources or prompts: ${error.message}`);
		}
	}

	/** Keeps the lists that a server has in its record. */
	#learn(server: Server, session: Session, board: ServerInfo, listed: Listed): void {
		if (server.session !== session) {
			return;
		}
		for (const problem of server.noteLists(listed)) {
			this.warn(`${server.id}: could not read ${problem}`);
		}
		const before = server.known ? server.record : undefined;
		const offers = this.#merge(server, before?.offers ?? NO_OFFERS, listed.offers);
		const record = {
			...before,
			id: server.id,
			alias: this.aliasFor(server, board.name),
			...this.tagsFor(server.id),
			board,
			offers,
			lastSeen: server.online && before ? before.lastSeen : Date.now(),
		};
		this.#online(server, record);
		if (offers !== before?.offers || !sameJson(before.board, board)) {
			this.save(server.id);
		}
		if (record.alias !== before?.alias) {
			this.renamed();
		} else if (offers !== before.offers) {
			this.changed();
		}
	}

	/** An unchanged list is the same object, and so are the offers if no list has changed: what is made from them stays valid. */
	#merge({ id, session }: Server, before: Offers, { tools, ...others }: Partial<Offers>): Offers {
		const settings = this.settingsOf(id);
		const visible = settings
			? tools?.filter(({ name }) => settings.offers(name))
			: tools && session && (this.#uploadsOf(session)?.offered(tools) ?? tools);
		const listed = this.lists.shareAll({ ...others, ...(visible && { tools: visible }) });
		const isSame = Object.entries(listed).every(([list, items]) => before[list as ListName] === items);
		return isSame ? before : this.lists.offers({ ...before, ...listed });
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

	#notified(server: Server, method: string, params: Readonly<Record<string, unknown>>): void {
		let isState = false;
		try {
			isState = keepState(server, { method, params });
		} catch (error) {
			this.reject(`${server.id}: ${(error as Error).message}`);
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
			this.remove(server.id);
			this.readAgain(server.id);
		} else if (wasOnline && session.identity.gateway === undefined) {
			this.save(server.id);
		}
		// While the gateway stops, clients are not notified of each disconnected device.
		this.emit("disconnected", server, session, reason, wasOnline && !this.#closed);
	}

	/** Ends a session that cannot be used. The server may connect again. The status of a configured server says why. */
	#disconnect(session: Session, reason: string): void {
		if (!this.#closed && !session.identity.configured) {
			this.warn(`${session.identity.id}: disconnected: ${reason}`);
		}
		session.close(reason);
	}
}

/** The lists that a notification reports as changed. */
function changedLists(method: string): ListName[] {
	return LIST_NAMES.filter((list) => LISTS[list].changed === method);
}

function sameJson(one: unknown, other: unknown): boolean {
	return JSON.stringify(one) === JSON.stringify(other);
}
