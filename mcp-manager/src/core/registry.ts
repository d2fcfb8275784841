import { once } from "node:events";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Implementation } from "@modelcontextprotocol/client";
import { MANAGER_INFO } from "../version.js";
import type { Uploads } from "./calls.js";
import type { Capabilities, Connection } from "./connection.js";
import { Discovery, type DiscoveryOptions, type Listed } from "./discovery.js";
import { ServerError } from "./errors.js";
import { type ListName, NO_OFFERS, type Offers } from "./offers.js";
import type { Server, ServerRecord } from "./server.js";
import { ServerDirectory, type ServerDirectoryOptions } from "./server-directory.js";

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

	/** Every connection, also of servers that are not known yet. */
	get connections(): Connection[] {
		return this.servers.flatMap(({ connection }) => connection ?? []);
	}

	/**
	 * Takes over a connection, and reads the server's identity and lists. An earlier connection of the same server ends. The
	 * connection is closed if that fails or the limit of servers is reached.
	 */
	connect(connection: Connection): void {
		const { id, configured = false } = connection.identity;
		// A device may give the id of a configured server as its own.
		if (configured !== (this.settingsOf(id) !== undefined)) {
			this.reject(`${id}: the id belongs to a configured server`);
			connection.close("the id belongs to a configured server");
			return;
		}
		this.get(id)?.connection?.close("the server has reconnected");
		const isOneTooMany = this.get(id) === undefined && this.isFull;
		const server = this.open(id);
		server.connect(connection);
		this.emit("connected", server, connection);
		if (isOneTooMany) {
			this.#disconnect(connection, `server limit (${this.maxServers}) reached: forget unused devices`);
		} else if (connection.known === undefined) {
			void this.#discover(server, connection);
		} else {
			server.state = connection.known.state ?? server.state;
			this.listsChanged(server);
		}
	}

	/**
	 * Removes a device, its tools, alias and tags. Settles when that is stored.
	 *
	 * Rejects with Error if it is connected (it would be known again at once), and with StoreError.
	 *
	 * @returns whether it was known
	 */
	async forget(name: string): Promise<boolean> {
		const server = this.find(name);
		if (server === undefined) {
			return false;
		}
		if (server.connection !== undefined) {
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
			server.close();
		}
		const ended = Promise.all(this.servers.map((server) => server.idle()));
		const late = once(AbortSignal.timeout(timeout), "abort");
		await Promise.race([ended, late]);
		// Callers pass their results on first: another gateway's client gets its answer before it hears that
		// the device has gone.
		await nextTurn();
	}

	/** Ends every connection, rejects every call, and settles when everything is stored. */
	override async close(): Promise<void> {
		this.#closed = true;
		for (const server of this.servers) {
			server.close();
			server.connection?.close("shutting down");
		}
		await super.close();
	}

	/** Reads the lists of a server that has reported changes. Another gateway has read them before it reports any. */
	override listsChanged(server: Server): void {
		const { connection } = server;
		if (connection?.known !== undefined) {
			this.#learn(server, connection, { offers: connection.known.offers, failures: new Map() });
		} else if (connection?.info !== undefined) {
			void this.#readLists(server, connection);
		}
	}

	override disconnected(server: Server, connection: Connection, reason: string): void {
		const isCurrent = server.connection === connection;
		const wasOnline = isCurrent && server.online;
		this.#uploadsOf(connection)?.end(connection.identity);
		if (isCurrent) {
			this.#extended.delete(server);
			server.disconnect();
		}
		if (!server.known) {
			this.remove(server.id);
			this.readAgain(server.id);
		} else if (wasOnline && connection.identity.gateway === undefined) {
			this.save(server.id);
		}
		// While the gateway stops, clients are not notified of each disconnected device.
		const isLeaving = wasOnline && !this.#closed;
		this.emit("disconnected", server, connection, reason, isLeaving);
		if (isLeaving) {
			this.emit("state", server);
		}
	}

	/** Where a device uploads: a device of another gateway uploads there. */
	#uploadsOf({ identity }: Connection): Uploads | undefined {
		return identity.gateway === undefined ? this.#options.uploads : undefined;
	}

	/** Reads a server's identity and lists. */
	async #discover(server: Server, connection: Connection): Promise<void> {
		const { identity } = connection;
		const { capabilities, relayed, info = MANAGER_INFO } = this.#options;
		const more = identity.configured ? relayed : this.#uploadsOf(connection)?.begin(identity);
		try {
			await connection.initialize({ ...capabilities, ...more }, info);
			if (server.connection === connection && server.known && sameJson(server.board, connection.info)) {
				// Unchanged firmware: the known tools can be called while its lists are read again.
				this.#online(server, server.record);
			}
		} catch (error) {
			this.#discoveryFailed(connection, error as Error);
			return;
		}
		await this.#readLists(server, connection);
	}

	/** Reads the outdated lists of a server, until there are none. */
	async #readLists(server: Server, connection: Connection): Promise<void> {
		if (server.reading === connection) {
			return;
		}
		server.reading = connection;
		try {
			while (server.connection === connection && server.outdated.length > 0) {
				const lists = server.outdated;
				server.outdated = [];
				await this.#discovery.list(connection, lists, (listed) => this.#listed(server, connection, listed));
			}
		} catch (error) {
			this.#discoveryFailed(connection, error as Error);
		}
		if (server.reading === connection) {
			server.reading = undefined;
		}
	}

	#listed(server: Server, connection: Connection, listed: Listed): void {
		if (server.connection !== connection) {
			return;
		}
		const [failure] = listed.failures.values();
		server.isListed ||= Object.keys(listed.offers).length > 0;
		if (!server.isListed && failure !== undefined) {
			this.#discoveryFailed(connection, failure);
		} else {
			this.#learn(server, connection, listed);
		}
	}

	/** The server did not answer properly: no list of it can be read. */
	#discoveryFailed(connection: Connection, error: Error): void {
		if (!(error instanceof ServerError && error.code === "server-disconnected")) {
			this.#disconnect(connection, `could not list its tools, resources or prompts: ${error.message}`);
		}
	}

	/** Keeps the lists that a server has in its record. */
	#learn(server: Server, connection: Connection, listed: Listed): void {
		const { info: board } = connection;
		if (board === undefined) {
			return;
		}
		for (const problem of server.noteLists(listed)) {
			this.warn(`${server.id}: could not read ${problem}`);
		}
		const before = server.known ? server.record : undefined;
		const offers = this.#merge(connection, before?.offers ?? NO_OFFERS, listed.offers);
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
	#merge(connection: Connection, before: Offers, { tools, ...others }: Partial<Offers>): Offers {
		const settings = this.settingsOf(connection.identity.id);
		const visible = settings
			? tools?.filter(({ name }) => settings.offers(name))
			: tools && (this.#uploadsOf(connection)?.offered(tools) ?? tools);
		const listed = this.lists.shareAll({ ...others, ...(visible && { tools: visible }) });
		const isSame = Object.entries(listed).every(([list, items]) => before[list as ListName] === items);
		return isSame ? before : this.lists.offers({ ...before, ...listed });
	}

	#online(server: Server, record: ServerRecord): void {
		const wasOnline = server.online;
		server.discovered(wasOnline ? record : { ...record, lastSeen: Date.now() });
		if (!wasOnline) {
			if (server.connection?.extensions.extensions !== undefined) {
				this.#extended.add(server);
			} else {
				this.#extended.delete(server);
			}
			this.emit("online", server);
			this.emit("state", server);
		}
	}

	/** Ends a connection that cannot be used. The server may connect again. The status of a configured server says why. */
	#disconnect(connection: Connection, reason: string): void {
		if (!this.#closed && !connection.identity.configured) {
			this.warn(`${connection.identity.id}: disconnected: ${reason}`);
		}
		connection.close(reason);
	}
}

function sameJson(one: unknown, other: unknown): boolean {
	return JSON.stringify(one) === JSON.stringify(other);
}
