import { EventEmitter, once } from "node:events";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Implementation } from "@modelcontextprotocol/client";
import pLimit from "p-limit";
import * as z from "zod";
import { type Entry, MemoryStore, type Store, StoreError } from "../store/store.js";
import { MANAGER_INFO } from "../version.js";
import { ALIAS, Aliases, readTags, readTitle } from "./aliases.js";
import type { Capabilities, Connection } from "./connection.js";
import { type Discover, type Listed, makeDiscovery } from "./discovery.js";
import { describeIssues, ServerError } from "./errors.js";
import { type ListName, NO_OFFERS, OFFERS, type Offers, openStoredOffers, type StoredOffers } from "./offers.js";
import { coalesced } from "./received.js";
import { makeSchemaChecker, type SchemaChecker } from "./schema-checker.js";
import {
	type CallDetails,
	type CallLimits,
	type CallRecord,
	type Notification,
	Server,
	type ServerRecord,
	type ServerSettings,
	type Uploads,
} from "./server.js";

/** In the store, before a device's id: its record, its tags, and its title. */
const DEVICE = "device/";
const TAGS = "tags/";
const TITLE = "title/";

/** The last millisecond that a Date can hold. */
const MAX_DATE = 8.64e15;

const RECORD = z.object({
	board: z.object({ name: z.string(), version: z.string() }),
	/** The hash of its lists. */
	offers: z.string(),
	lastSeen: z.number().min(0).max(MAX_DATE),
});

// Built once: each device that connects is read with them.
const TAGS_SCHEMA = checked(z.array(z.string()), readTags).optional();
const TITLE_SCHEMA = checked(z.string(), readTitle).optional();

/** Records that are written at the same time: thousands of devices may connect at once. */
const PARALLEL_WRITES = 32;

/** Milliseconds until records that could not be written are written again. */
const RETRY_TIME = 1_000;

/** Interval of the checks for lists that no device uses, ms. */
const TIDY_INTERVAL = 60_000;

export interface ServerRegistryOptions extends CallLimits {
	/** Keeps devices, their aliases and tags. Default: they are known until the process ends. */
	readonly store?: Store;
	/** Aliases by server id, instead of the default ones. */
	readonly aliases?: ReadonlyMap<string, string>;
	/** Receives uploads of devices during calls. Default: devices cannot upload. */
	readonly uploads?: Uploads | undefined;
	/** Servers asked for their lists at the same time. Default 64. */
	readonly discoveries?: number;
	/** Milliseconds that a server has for a list. Default 30,000. */
	readonly discoveryTimeout?: number;
	/** Most known servers. Default 10,000. Beyond that a new one is disconnected. */
	readonly maxServers?: number;
	/** Milliseconds for which changes are collected before clients are notified. Default 250. */
	readonly changeDelay?: number;
	/** The name and version sent in `initialize`. Default: those of this package. */
	readonly info?: Implementation;
	readonly capabilities?: Capabilities;
	/** Further capabilities sent to configured servers, whose questions go to the client of the current request. */
	readonly relayed?: Capabilities;
}

/** An operator's change of a server. An empty title removes it. */
export interface ServerEdit {
	readonly alias?: string | undefined;
	readonly title?: string | undefined;
	readonly tags?: readonly string[] | undefined;
}

interface RegistryEvents {
	connected: [server: Server, connection: Connection];
	/** A connection has ended. `isLeaving`: the server was online, and is offline now; never while the registry closes. */
	disconnected: [server: Server, connection: Connection, reason: string, isLeaving: boolean];
	online: [server: Server];
	/** A server sent a notification, except progress and cancellation. `isState`: it has changed `device://ALIAS/state`. */
	notification: [server: Server, method: string, params: Readonly<Record<string, unknown>>, isState: boolean];
	/** The content of `device://ALIAS/state` has changed. `cause`: the server's notification of the change, if it sent one. */
	state: [server: Server, cause?: Notification];
	/** A server sent progress of a call, or cancelled a request of its own. */
	requestNotification: [server: Server, method: string, params: Readonly<Record<string, unknown>>];
	/** Servers, tools or names have changed: once for a burst of changes. The version of the registry has increased. */
	changed: [];
	/** The record of a device that has no session with this gateway was read: another one may have stored it. */
	read: [server: Server];
	/** A resource of a server that clients have subscribed to has been updated. */
	updated: [server: Server, uri: string];
	call: [record: CallRecord, details: CallDetails];
	rejected: [description: string];
	/** A warning, other than a failed call. */
	warning: [message: string];
}

/**
 * Every known server, online or offline, by id and alias. The lists of a server are read when it connects or reports a change.
 * Devices are kept in a store: `device/ID`, `alias/NAME`, `tags/ID`, `title/ID` and `offers/HASH`. Changes that others make there are shown.
 */
export class ServerRegistry extends EventEmitter<RegistryEvents> {
	readonly options: ServerRegistryOptions;
	readonly checker: SchemaChecker;
	readonly #aliases: Aliases;
	readonly #store: Store;
	readonly #offers: StoredOffers;
	readonly #list: Discover;
	/** Servers by id. One that has never been discovered is in it only while it is connected. */
	readonly #servers = new Map<string, Server>();
	/** The servers that are online and have extensions which clients can use. */
	readonly extended = new Set<Server>();
	/** Settings of configured servers, by id. */
	readonly #settings = new Map<string, ServerSettings>();
	readonly #configuredAliases = new Map<string, string>();
	/** Devices whose record is to be written. */
	readonly #unsaved = new Set<string>();
	/** Writes in progress, by the device's id. */
	readonly #changing = new Map<string, Promise<void>>();
	/** Devices whose lists could not be stored. */
	readonly #withoutLists = new Set<string>();
	/** Devices whose record names lists that are not stored. */
	readonly #waiting = new Set<string>();
	readonly #saveAll = coalesced(() => this.#writeUnsaved());
	/** How often lists of a device could not be stored. */
	refusedLists = 0;
	#sorted: readonly Server[] | undefined;
	/** Increases whenever a server was added or removed, or has other tools or another alias. */
	version = 0;
	#changeTimer: NodeJS.Timeout | undefined;
	#retryTimer: NodeJS.Timeout | undefined;
	readonly #tidyTimer: NodeJS.Timeout;
	#unwatch: (() => void)[] = [];
	#isClosed = false;
	readonly #warn = (message: string): void => void this.emit("warning", message);

	/** Reads the store, and follows it. @throws RangeError if an alias is not valid */
	constructor(options: ServerRegistryOptions = {}, onWarning?: (message: string) => void) {
		super();
		// One listener per client.
		this.setMaxListeners(0);
		if (onWarning !== undefined) {
			this.on("warning", onWarning);
		}
		const { store = new MemoryStore(), aliases } = options;
		this.options = options;
		this.checker = makeSchemaChecker(this.#warn);
		this.#store = store;
		this.#aliases = new Aliases(store, aliases);
		this.#offers = openStoredOffers(store, this.#warn);
		this.#list = makeDiscovery(options.discoveries, options.discoveryTimeout, this.#warn);
		for (const { key, value } of store.list(DEVICE)) {
			this.#read(key.slice(DEVICE.length), value);
		}
		const onConnected = (): void => void this.#saveAll();
		store.on("connected", onConnected);
		this.#unwatch = [
			store.watch(ALIAS, (key, entry) => {
				for (const id of this.#aliases.noteEntry(key, entry)) {
					this.#realias(id);
				}
			}),
			store.watch(TAGS, (key) => this.#onLabels(key.slice(TAGS.length))),
			store.watch(TITLE, (key) => this.#onLabels(key.slice(TITLE.length))),
			store.watch(OFFERS, (key, entry) => this.#onOffers(key.slice(OFFERS.length), entry)),
			store.watch(DEVICE, (key, entry) => this.#onRecord(key.slice(DEVICE.length), entry)),
			() => store.off("connected", onConnected),
		];
		this.#tidyTimer = setInterval(() => void this.#tidy(), TIDY_INTERVAL).unref();
	}

	get all(): readonly Server[] {
		this.#sorted ??= this.#every.filter(({ known }) => known).sort((a, b) => (a.alias < b.alias ? -1 : 1));
		return this.#sorted;
	}

	get #every(): Server[] {
		return [...this.#servers.values()];
	}

	/** Every connection, also of servers that are not known yet. */
	get connections(): Connection[] {
		return this.#every.flatMap(({ connection }) => connection ?? []);
	}

	get #maxServers(): number {
		return this.options.maxServers ?? 10_000;
	}

	/** A known server, by alias or else by id. */
	find(name: string): Server | undefined {
		// A MAC address may be written in upper case.
		const server = this.#servers.get(this.#aliases.owner(name) ?? name) ?? this.#servers.get(name.toLowerCase());
		return server?.known ? server : undefined;
	}

	get(id: string): Server | undefined {
		return this.#servers.get(id);
	}

	/** The hash of lists, by which they are stored. */
	hashOf(offers: Offers): string {
		return this.#offers.hashOf(offers);
	}

	/** Emits that a connection or a message was rejected. */
	reject(description: string): void {
		this.emit("rejected", description);
	}

	/**
	 * Takes over a connection, and reads the server's identity and lists. An earlier connection of the same server ends. The
	 * connection is closed if that fails or the limit of servers is reached.
	 */
	connect(connection: Connection): void {
		const { id, configured = false } = connection.identity;
		const known = this.#servers.get(id);
		// A device may give the id of a configured server as its own.
		if (configured !== this.#settings.has(id)) {
			this.reject(`${id}: the id belongs to a configured server`);
			connection.close("the id belongs to a configured server");
			return;
		}
		known?.connection?.close("the server has reconnected");
		const server = this.#servers.get(id) ?? new Server(id, this, this.#settings.get(id));
		const isOneTooMany = !this.#servers.has(id) && this.#servers.size >= this.#maxServers;
		this.#servers.set(id, server);
		server.connect(connection);
		this.emit("connected", server, connection);
		if (isOneTooMany) {
			this.#disconnect(connection, `server limit (${this.#maxServers}) reached: forget unused devices`);
		} else if (connection.known === undefined) {
			void this.#discover(server, connection);
		} else {
			server.state = connection.known.state ?? server.state;
			this.listsChanged(server);
		}
	}

	/**
	 * Removes a device, its tools, alias and tags. Settles when that is stored, with whether it was known. Rejects with Error if it
	 * is connected (it would be known again at once), and with StoreError.
	 */
	async forget(name: string): Promise<boolean> {
		const server = this.find(name);
		if (server?.connection !== undefined) {
			throw new Error(`${server.alias} is online: disconnect it first`);
		}
		await (server && this.#forgetDevice(server.id));
		return server !== undefined;
	}

	/** Rejects the waiting calls, and settles when the running ones and other requests have ended, or after `timeout` ms. */
	async drain(timeout: number): Promise<void> {
		for (const server of this.#every) {
			server.close();
		}
		const ended = Promise.all(this.#every.map((server) => server.idle()));
		const late = once(AbortSignal.timeout(timeout), "abort");
		await Promise.race([ended, late]);
		// Callers pass their results on first: another gateway's client gets its answer before it hears that
		// the device has gone.
		await nextTurn();
	}

	/** Ends every connection, rejects every call, and settles when everything is stored, or cannot be. */
	async close(): Promise<void> {
		this.#isClosed = true;
		for (const server of this.#every) {
			server.close();
			server.connection?.close("shutting down");
		}
		clearTimeout(this.#changeTimer);
		clearInterval(this.#tidyTimer);
		this.checker.close();
		await this.#saveAll();
		clearTimeout(this.#retryTimer);
		for (const end of this.#unwatch.splice(0)) {
			end();
		}
	}

	/** Reads the lists of a server that has reported changes. Another gateway has read them before it reports any. */
	listsChanged(server: Server): void {
		const { connection } = server;
		if (connection?.known !== undefined) {
			this.#learn(server, connection, { offers: connection.known.offers, failures: new Map() });
		} else if (connection?.info !== undefined) {
			void this.#readLists(server, connection);
		}
	}

	/** Takes over that a connection has ended. */
	disconnected(server: Server, connection: Connection, reason: string): void {
		const { id } = server;
		const isCurrent = server.connection === connection;
		const wasOnline = isCurrent && server.online;
		this.uploadsOf(connection)?.end(connection.identity);
		if (isCurrent) {
			this.extended.delete(server);
			server.disconnect();
		}
		if (!server.known) {
			this.#remove(id);
			// Another gateway may have stored it during a session here that had not come to its lists.
			this.#onRecord(id, this.#store.get(DEVICE + id));
		} else if (wasOnline && connection.identity.gateway === undefined) {
			this.#save(id);
		}
		// While the gateway stops, clients are not notified of each disconnected device.
		const isLeaving = wasOnline && !this.#isClosed;
		this.emit("disconnected", server, connection, reason, isLeaving);
		if (isLeaving) {
			this.emit("state", server);
		}
	}

	/**
	 * Reserves an id for a configured server, and its alias. A device that has the id is disconnected and forgotten; one that has
	 * the alias gets another.
	 *
	 * @throws RangeError if another configured server has this id
	 */
	configure(id: string, settings: ServerSettings): void {
		if (this.#settings.has(id)) {
			throw new RangeError(`id ${id}: already in use`);
		}
		this.#settings.set(id, settings);
		const device = this.#servers.get(id);
		if (device !== undefined) {
			device.connection?.close("the id belongs to a configured server");
			this.#remove(id);
			this.#forgetDevice(id).catch(({ message }: Error) => this.#warn(`${id}: ${message}`));
		}
		// Connected servers whose ids would give them this alias may get another.
		const rivals = [...this.#settings].filter(([, { alias }]) => alias === settings.alias);
		for (const [rival] of rivals) {
			const { alias, loser } = this.#aliases.claim(rival, settings.alias, rivals.length > 1);
			this.#configuredAliases.set(rival, alias);
			this.#setAlias(rival, alias);
			if (loser !== undefined && !this.#settings.has(loser)) {
				this.#realias(loser);
			}
		}
	}

	unconfigure(id: string): void {
		this.#remove(id);
		const alias = this.#configuredAliases.get(id) ?? "";
		this.#configuredAliases.delete(id);
		this.#settings.delete(id);
		const device = this.#aliases.unclaim(id, alias);
		if (device !== undefined) {
			this.#realias(device);
		}
	}

	/**
	 * Gives a server another alias, title or tags, and notifies clients. Settles when that is stored, with the server;
	 * undefined if it is unknown, or was forgotten meanwhile. Rejects with RangeError that names the invalid field, and with StoreError.
	 */
	async edit(name: string, { alias, title, tags }: ServerEdit): Promise<Server | undefined> {
		const server = this.find(name);
		if (server === undefined) {
			return undefined;
		}
		const { id } = server;
		if (server.configured && (alias ?? server.alias) !== server.alias) {
			throw new RangeError(`alias of ${id}: derived from its configured id, cannot be set`);
		}
		if (server.configured && tags !== undefined && tags.length > 0) {
			throw new RangeError(`tags of ${id}: only devices have tags`);
		}
		if (server.configured && title) {
			throw new RangeError(`title of ${id}: only devices have titles`);
		}
		const kept = tags && readTags(tags);
		const named = title === undefined ? undefined : readTitle(title);
		if (alias !== undefined && alias !== server.alias) {
			try {
				await this.#aliases.rename(id, alias, (holder) => this.#servers.has(holder));
			} catch (error) {
				// Its alias was not stored while it was to have another one.
				this.#save(id);
				throw error;
			}
		}
		if (kept !== undefined && !sameJson(kept, server.tags)) {
			await this.#store.update(TAGS + id, () => kept);
		}
		if (named !== undefined && named !== (server.title ?? "")) {
			await this.#store.update(TITLE + id, () => (named === "" ? null : named));
		}
		if (!server.configured && this.#store.get(DEVICE + id) === undefined) {
			// It has just connected: after a restart, nobody would know whose name and tags these are.
			await this.#change(id, () => this.#write(id));
		}
		// Another gateway may have forgotten it before that was stored. It may be back, with lists that are still to be read.
		if (!this.#servers.get(id)?.known) {
			await this.#removeNames(id);
			return undefined;
		}
		return server;
	}

	/** Uploads of a device of the family; undefined for other servers, and for a device of another gateway, which uploads there. */
	uploadsOf({ identity, isOfFamily }: Connection): Uploads | undefined {
		return isOfFamily && identity.gateway === undefined ? this.options.uploads : undefined;
	}

	/** Reads a server's identity and lists. */
	async #discover(server: Server, connection: Connection): Promise<void> {
		const { identity } = connection;
		const { capabilities, relayed, info = MANAGER_INFO } = this.options;
		const more = identity.configured ? relayed : this.uploadsOf(connection)?.begin(identity);
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
				await this.#list(connection, lists, (listed) => {
					const [failure] = listed.failures.values();
					server.isListed ||= Object.keys(listed.offers).length > 0;
					if (!server.isListed && failure !== undefined) {
						this.#discoveryFailed(connection, failure);
					} else {
						this.#learn(server, connection, listed);
					}
				});
			}
		} catch (error) {
			this.#discoveryFailed(connection, error as Error);
		}
		if (server.reading === connection) {
			server.reading = undefined;
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
		const { id } = server;
		for (const problem of server.noteLists(listed)) {
			this.#warn(`${id}: could not read ${problem}`);
		}
		const before = server.known ? server.record : undefined;
		const offers = this.#merge(connection, before?.offers ?? NO_OFFERS, listed.offers);
		const record = {
			...before,
			id,
			alias: this.#configuredAliases.get(id) ?? this.#aliases.assign(id, board.name, before?.alias),
			...this.#labelsOf(id),
			board,
			offers,
			lastSeen: server.online && before ? before.lastSeen : Date.now(),
		};
		this.#online(server, record);
		if (offers !== before?.offers || !sameJson(before.board, board)) {
			this.#save(id);
		}
		this.#compare(before, record);
	}

	/** An unchanged list stays the same object, and so do the offers if no list has changed: what is made from them stays valid. */
	#merge(connection: Connection, before: Offers, listed: Partial<Offers>): Offers {
		const settings = this.#settings.get(connection.identity.id);
		const { tools } = listed;
		const visible = settings
			? tools?.filter(({ name }) => settings.offers(name))
			: tools && (this.uploadsOf(connection)?.offered(tools) ?? tools);
		const read = Object.entries({ ...listed, ...(visible && { tools: visible }) });
		const changed = read.filter(([list, items]) => !sameJson(before[list as ListName], items));
		return changed.length === 0 ? before : this.#offers.share({ ...before, ...Object.fromEntries(changed) });
	}

	#online(server: Server, record: ServerRecord): void {
		const wasOnline = server.online;
		server.discovered(wasOnline ? record : { ...record, lastSeen: Date.now() });
		if (!wasOnline) {
			if (server.connection?.extensions.extensions !== undefined) {
				this.extended.add(server);
			}
			this.emit("online", server);
			this.emit("state", server);
		}
	}

	/** Ends a connection that cannot be used. The server may connect again. The status of a configured server says why. */
	#disconnect(connection: Connection, reason: string): void {
		if (!this.#isClosed && !connection.identity.configured) {
			this.#warn(`${connection.identity.id}: disconnected: ${reason}`);
		}
		connection.close(reason);
	}

	/** Shows the record of a device that has no session with this gateway. */
	#read(id: string, value: unknown): void {
		const { data, error } = RECORD.safeParse(value);
		if (error !== undefined) {
			this.#warn(`${DEVICE}${id}: not a record of a device: ${describeIssues(error.issues, "content")}`);
			return;
		}
		const { board, lastSeen } = data;
		const offers = this.#offers.get(data.offers);
		const known = this.#servers.get(id);
		const isFull = this.#servers.size >= this.#maxServers && this.#unwatch.length > 0;
		if (offers === undefined || (known === undefined && isFull)) {
			this.#waiting.add(id);
			return;
		}
		this.#waiting.delete(id);
		const before = known?.known ? known.record : undefined;
		const alias = this.#aliases.assign(id, board.name, before?.alias);
		const server = known ?? new Server(id, this);
		server.update({ id, alias, ...this.#labelsOf(id), board, offers, lastSeen });
		this.#servers.set(id, server);
		this.#compare(before, server.record);
		if (!this.#aliases.isKept(id)) {
			this.#save(id);
		}
		this.emit("read", server);
	}

	#remove(id: string): void {
		const server = this.#servers.get(id);
		this.#servers.delete(id);
		this.#waiting.delete(id);
		this.#withoutLists.delete(id);
		if (server?.known) {
			this.#aliases.release(id, server.alias);
			this.#renamed();
		}
	}

	#realias(id: string): void {
		const device = this.#servers.get(id);
		if (device?.known && !this.#settings.has(id)) {
			this.#setAlias(id, this.#aliases.assign(id, device.board.name, device.alias));
			this.#save(id);
		}
	}

	#setAlias(id: string, alias: string): void {
		const server = this.#servers.get(id);
		if (server?.known && server.alias !== alias) {
			server.update({ ...server.record, alias });
			this.#renamed();
		}
	}

	/** Forgets a device that is offline, after its writes in progress. Rejects with StoreError. */
	async #forgetDevice(id: string): Promise<void> {
		await this.#change(id, async () => {
			await this.#store.delete(DEVICE + id);
			// The store reports no removal of a record that was never stored.
			this.#onRecord(id, this.#store.get(DEVICE + id));
			await this.#removeNames(id);
		});
	}

	/** Removes the names and tags of a device that was forgotten. Rejects with StoreError. */
	async #removeNames(id: string): Promise<void> {
		await this.#aliases.forget(id);
		await this.#store.delete(TAGS + id);
		await this.#store.update(TITLE + id, () => null);
	}

	/** Changes what is stored of a device, once the changes before have ended. */
	async #change(id: string, change: () => Promise<void>): Promise<void> {
		const before = this.#changing.get(id);
		const changed = before === undefined ? change() : before.then(change, change);
		this.#changing.set(id, changed);
		try {
			await changed;
		} finally {
			if (this.#changing.get(id) === changed) {
				this.#changing.delete(id);
			}
		}
	}

	#onLabels(id: string): void {
		const server = this.#servers.get(id);
		if (server?.known && !this.#settings.has(id)) {
			const { tags: _, title: __, ...record } = server.record;
			server.update({ ...record, ...this.#labelsOf(id) });
			this.#changed();
		}
	}

	/** Returns the title and tags of a device, for its record. */
	#labelsOf(id: string): Pick<ServerRecord, "tags" | "title"> {
		const read = <T>(key: string, schema: z.ZodType<T>): T | undefined => {
			const value = this.#settings.has(id) ? undefined : this.#store.get(key)?.value;
			const { data, error } = schema.safeParse(value);
			if (error !== undefined) {
				this.#warn(`${key}: ${describeIssues(error.issues, "content")}`);
			}
			return data;
		};
		const tags = read(TAGS + id, TAGS_SCHEMA);
		const title = read(TITLE + id, TITLE_SCHEMA);
		return { ...(tags && tags.length > 0 && { tags }), ...(title && { title }) };
	}

	#onRecord(id: string, entry: Entry | undefined): void {
		const server = this.#servers.get(id);
		if (this.#settings.has(id)) {
			return;
		}
		if (server !== undefined && isHere(server)) {
			// Another gateway has removed or replaced what this one has to say.
			this.#save(id);
		} else if (entry !== undefined) {
			this.#read(id, entry.value);
		} else if (server !== undefined) {
			server.connection?.close("the device was forgotten");
			this.#remove(id);
		}
	}

	#onOffers(hash: string, entry: Entry | undefined): void {
		const uses = (id: string): boolean => offersIn(this.#store.get(DEVICE + id)) === hash;
		if (entry !== undefined) {
			for (const id of [...this.#waiting].filter(uses)) {
				this.#onRecord(id, this.#store.get(DEVICE + id));
			}
			return;
		}
		// Another gateway has not known that they are used.
		for (const server of this.#every.filter((each) => isHere(each) && uses(each.id))) {
			this.#save(server.id);
		}
	}

	/** Schedules the storing of a device, as it is then. Configured servers are not stored: the configuration lists them. */
	#save(id: string): void {
		if (!this.#settings.has(id)) {
			this.#unsaved.add(id);
			void this.#saveAll();
		}
	}

	/** Writes what has changed. What could not be written is written later. */
	async #writeUnsaved(): Promise<void> {
		// Changes of a device in the same turn are written once.
		await nextTurn();
		clearTimeout(this.#retryTimer);
		const limit = pLimit(PARALLEL_WRITES);
		const failed: string[] = [];
		const write = async (id: string): Promise<void> => {
			try {
				await this.#change(id, () => this.#write(id));
			} catch {
				failed.push(id);
			}
		};
		const ids = [...this.#unsaved];
		this.#unsaved.clear();
		await Promise.all(ids.map((id) => limit(write, id)));
		if (failed.length > 0 && this.#unwatch.length > 0) {
			for (const id of failed) {
				this.#unsaved.add(id);
			}
			this.#retryTimer = setTimeout(() => void this.#saveAll(), RETRY_TIME).unref();
		}
	}

	/** Stores a device's alias, then its lists, then its record: whoever reads a record finds the others. Rejects with StoreError. */
	async #write(id: string): Promise<void> {
		const server = this.#servers.get(id);
		if (!server?.known || server.configured) {
			return;
		}
		await this.#aliases.keep(id, server.alias);
		const offers = await this.#saveOffers(server);
		// Another gateway may forget it at the same time.
		await this.#store.update(DEVICE + id, (before) => {
			const { board, lastSeen } = server.record;
			const hash = offers ?? offersIn(before);
			// The gateway that has the device stores its record, but may have been killed before.
			const isTheirs = before !== undefined && server.connection !== undefined && !isHere(server);
			if (hash === undefined || isTheirs || this.#servers.get(id) !== server) {
				return undefined;
			}
			const record = { board: { name: board.name, version: board.version }, offers: hash, lastSeen };
			// Another gateway may have stored another time of a device that is here.
			const { data } = RECORD.safeParse(before?.value);
			return data && sameJson(isHere(server) ? { ...data, lastSeen } : data, record) ? undefined : record;
		});
	}

	/** Returns the hash of a device's lists; undefined if they are refused. Rejects with StoreError if the store cannot be reached. */
	async #saveOffers(server: Server): Promise<string | undefined> {
		const { id } = server;
		try {
			const hash = await this.#offers.save(server);
			this.#withoutLists.delete(id);
			return hash;
		} catch (error) {
			if (error instanceof StoreError && (error.code !== "not-written" || !this.#store.isConnected)) {
				throw error;
			}
			this.refusedLists += 1;
			if (!this.#withoutLists.has(id)) {
				this.#withoutLists.add(id);
				this.#warn(`${id}: its lists are not stored: ${(error as Error).message}`);
			}
			return undefined;
		}
	}

	/** Removes lists that no device uses, and stores those again that were refused. */
	async #tidy(): Promise<void> {
		for (const id of this.#withoutLists) {
			this.#save(id);
		}
		await this.#offers.removeUnused(new Set(this.#store.list(DEVICE).map(offersIn)));
	}

	/** Reports a visible change of a known server other than its alias. */
	#changed(): void {
		this.version += 1;
		// Thousands of devices may connect at the same time.
		this.#changeTimer ??= setTimeout(() => {
			this.#changeTimer = undefined;
			this.emit("changed");
		}, this.options.changeDelay ?? 250);
	}

	/** A server has become known, is no longer known, or has another alias. */
	#renamed(): void {
		this.#sorted = undefined;
		this.#changed();
	}

	#compare(before: ServerRecord | undefined, { alias, board, offers }: ServerRecord): void {
		if (alias !== before?.alias) {
			this.#renamed();
		} else if (offers !== before.offers || !sameJson(board, before.board)) {
			this.#changed();
		}
	}
}

/** Returns a schema of what a reader accepts, which throws RangeError. */
function checked<In, Out>(schema: z.ZodType<In>, read: (value: In) => Out): z.ZodType<Out> {
	return schema.transform((value, context) => {
		try {
			return read(value);
		} catch (error) {
			context.addIssue((error as Error).message);
			return z.NEVER;
		}
	});
}

/** Whether a device is connected to this gateway. */
function isHere({ connection }: Server): boolean {
	return connection !== undefined && connection.identity.gateway === undefined;
}

/** The hash of the lists of a device. */
function offersIn(entry: Entry | undefined): string | undefined {
	return RECORD.shape.offers.safeParse((entry?.value as { offers?: unknown } | undefined)?.offers).data;
}

function sameJson(one: unknown, other: unknown): boolean {
	return one === other || JSON.stringify(one) === JSON.stringify(other);
}
