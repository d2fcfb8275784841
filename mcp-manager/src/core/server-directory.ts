import { EventEmitter } from "node:events";
import { setImmediate as nextTurn } from "node:timers/promises";
import pLimit from "p-limit";
import * as z from "zod";
import { MemoryStore } from "../store/memory-store.js";
import { type Entry, type Store, StoreError } from "../store/store.js";
import { ALIAS, Aliases, readTags } from "./aliases.js";
import type { CallDetails, CallLimits, CallRecord, Uploads } from "./calls.js";
import { coalesced } from "./coalesced.js";
import type { Connection } from "./connection.js";
import { describeIssues } from "./issues.js";
import type { Offers } from "./offers.js";
import { SchemaChecker } from "./schema-checker.js";
import { type Notification, Server, type ServerContext, type ServerSettings } from "./server.js";
import { SharedLists } from "./shared-lists.js";
import { OFFERS, StoredOffers } from "./stored-offers.js";

/** In the store, before a device's id: its record, and its tags. */
const DEVICE = "device/";
const TAGS = "tags/";

/** The last millisecond that a Date can hold. */
const MAX_DATE = 8.64e15;

const RECORD = z.object({
	board: z.object({ name: z.string(), version: z.string() }),
	/** The hash of its lists. */
	offers: z.string(),
	lastSeen: z.number().min(0).max(MAX_DATE),
});

/** Records that are written at the same time: thousands of devices may connect at once. */
const PARALLEL_WRITES = 32;

/** Milliseconds until records that could not be written are written again. */
const RETRY_TIME = 1_000;

/** Interval of the checks for lists that no device uses, ms. */
const TIDY_INTERVAL = 60_000;

export interface ServerDirectoryOptions extends CallLimits {
	/** Keeps devices, their aliases and tags. Default: they are known until the process ends. */
	readonly store?: Store;
	/** Aliases by server id, instead of the default ones. */
	readonly aliases?: ReadonlyMap<string, string>;
	/** Where devices upload files during calls. Default: nowhere. */
	readonly uploads?: Uploads | undefined;
	/** Most known servers. Default 10,000. Beyond that a new one is disconnected. */
	readonly maxServers?: number;
	/** Milliseconds for which changes are collected before clients are notified. Default 250. */
	readonly changeDelay?: number;
}

/** An operator's change of a server. */
export interface ServerEdit {
	readonly alias?: string | undefined;
	readonly tags?: readonly string[] | undefined;
}

/** Events of a registry of servers. */
export interface RegistryEvents {
	/** A server has connected. */
	connected: [server: Server, connection: Connection];
	/** A connection has ended. `isLeaving`: the server was online, and is offline now; never while the registry closes. */
	disconnected: [server: Server, connection: Connection, reason: string, isLeaving: boolean];
	/** A server can be called. */
	online: [server: Server];
	/**
	 * A server sent a notification; progress and cancellation go to their calls. `isState`: it has changed the content of
	 * `device://ALIAS/state`.
	 */
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
	/** A call has ended. */
	call: [record: CallRecord, details: CallDetails];
	/** A connection or a message was rejected. */
	rejected: [description: string];
	/** A warning, other than a failed call. */
	warning: [message: string];
}

/**
 * Every server by id and alias, with its settings. Devices are kept in a store: `device/ID`, `alias/NAME`, `tags/ID` and
 * `offers/HASH`. Changes that others make there are shown here.
 */
export abstract class ServerDirectory extends EventEmitter<RegistryEvents> {
	/** The lists of all servers. */
	protected readonly lists = new SharedLists();
	readonly #context: ServerContext;
	readonly #changeDelay: number;
	protected readonly maxServers: number;
	readonly #aliases: Aliases;
	readonly #store: Store;
	readonly #offers: StoredOffers;
	/** By id. A server that has never been discovered is in it only while it is connected. */
	readonly #servers = new Map<string, Server>();
	/** Of configured servers, by id. */
	readonly #settings = new Map<string, ServerSettings>();
	readonly #configuredAliases = new Map<string, string>();
	/** Devices whose record is to be written. */
	readonly #unsaved = new Set<string>();
	/** What is being stored or removed of a device, by its id. */
	readonly #changing = new Map<string, Promise<void>>();
	/** Devices whose lists could not be stored. */
	readonly #withoutLists = new Set<string>();
	/** Devices whose record names lists that are not stored. */
	readonly #waiting = new Set<string>();
	readonly #saveAll = coalesced(() => this.#writeUnsaved());
	/** How often lists of a device could not be stored. */
	refusedLists = 0;
	#sorted: readonly Server[] | undefined;
	#version = 0;
	#changeTimer: NodeJS.Timeout | undefined;
	#retryTimer: NodeJS.Timeout | undefined;
	#tidyTimer: NodeJS.Timeout | undefined;
	#unwatch: (() => void)[] = [];
	protected readonly warn = (message: string): void => void this.emit("warning", message);

	/** @throws RangeError if an alias is not valid */
	constructor(options: ServerDirectoryOptions) {
		super();
		// One listener per client.
		this.setMaxListeners(0);
		const { store = new MemoryStore(), aliases, changeDelay = 250, maxServers = 10_000 } = options;
		this.#context = {
			...options,
			checker: new SchemaChecker(this.warn),
			servers: this,
		};
		this.#changeDelay = changeDelay;
		this.maxServers = maxServers;
		this.#store = store;
		this.#aliases = new Aliases(store, aliases);
		this.#offers = new StoredOffers(store, this.lists, this.warn);
	}

	/** Takes over that a connection has ended. */
	abstract disconnected(server: Server, connection: Connection, reason: string): void;

	/** Takes over that a server has reported changed lists. */
	abstract listsChanged(server: Server): void;

	/** Reads the store, and follows it. */
	load(): void {
		for (const { key, value } of this.#store.list(DEVICE)) {
			this.#read(key.slice(DEVICE.length), value);
		}
		const onConnected = (): void => void this.#saveAll();
		this.#store.on("connected", onConnected);
		this.#unwatch = [
			this.#store.watch(ALIAS, (key, entry) => this.#onAlias(key, entry)),
			this.#store.watch(TAGS, (key) => this.#onTags(key.slice(TAGS.length))),
			this.#store.watch(OFFERS, (key, entry) => this.#onOffers(key.slice(OFFERS.length), entry)),
			this.#store.watch(DEVICE, (key, entry) => this.#onRecord(key.slice(DEVICE.length), entry)),
			() => this.#store.off("connected", onConnected),
		];
		this.#tidyTimer = setInterval(() => void this.#tidy(), TIDY_INTERVAL).unref();
	}

	/** Increases whenever a server was added or removed, or has other tools or another alias. */
	get version(): number {
		return this.#version;
	}

	/** Every known server, by alias. */
	get all(): readonly Server[] {
		this.#sorted ??= this.servers.filter(({ known }) => known).sort((a, b) => (a.alias < b.alias ? -1 : 1));
		return this.#sorted;
	}

	/** Every server, known or not. */
	protected get servers(): Server[] {
		return [...this.#servers.values()];
	}

	protected get isFull(): boolean {
		return this.#servers.size >= this.maxServers;
	}

	/** A known server, by alias or else by id. */
	find(name: string): Server | undefined {
		// A MAC address may be written in upper case.
		const server = this.#servers.get(this.#aliases.owner(name) ?? name) ?? this.#servers.get(name.toLowerCase());
		return server?.known ? server : undefined;
	}

	/** The server with this id, known or not. */
	get(id: string): Server | undefined {
		return this.#servers.get(id);
	}

	/** The server with this id, created if needed. */
	open(id: string): Server {
		const server = this.#servers.get(id) ?? new Server(id, this.#context, this.#settings.get(id));
		this.#servers.set(id, server);
		return server;
	}

	/** Shows the record of a device that has no session with this gateway. */
	#read(id: string, value: unknown): void {
		const { data, error } = RECORD.safeParse(value);
		if (error !== undefined) {
			this.warn(`${DEVICE}${id}: not a record of a device: ${describeIssues(error.issues, "content")}`);
			return;
		}
		const { board, lastSeen } = data;
		const offers = this.#offers.get(data.offers);
		const known = this.#servers.get(id);
		if (offers === undefined || (known === undefined && this.isFull && this.#unwatch.length > 0)) {
			this.#waiting.add(id);
			return;
		}
		this.#waiting.delete(id);
		const before = known?.known ? known.record : undefined;
		const alias = this.#aliases.assign(id, board.name, before?.alias);
		const tags = this.#tagsOf(id);
		const record = { id, alias, ...(tags.length > 0 && { tags }), board, offers, lastSeen };
		const server = known ?? new Server(id, this.#context);
		server.update(record);
		this.#servers.set(id, server);
		if (alias !== before?.alias) {
			this.renamed();
		} else if (offers !== before.offers || JSON.stringify(board) !== JSON.stringify(before.board)) {
			this.changed();
		}
		if (!this.#aliases.isKept(id)) {
			this.save(id);
		}
		this.emit("read", server);
	}

	/** Shows a device that another gateway may have stored during a session here that had not come to its lists. */
	protected readAgain(id: string): void {
		const entry = this.#store.get(DEVICE + id);
		if (entry !== undefined && !this.#settings.has(id)) {
			this.#read(id, entry.value);
		}
	}

	/** The hash of lists, by which they are stored. */
	hashOf(offers: Offers): string {
		return this.#offers.hashOf(offers);
	}

	/** The settings of a configured server; undefined for a device. */
	protected settingsOf(id: string): ServerSettings | undefined {
		return this.#settings.get(id);
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
			this.remove(id);
			this.forgetDevice(id).catch(({ message }: Error) => this.warn(`${id}: ${message}`));
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

	/** Removes a configured server. */
	unconfigure(id: string): void {
		this.remove(id);
		const alias = this.#configuredAliases.get(id) ?? "";
		this.#configuredAliases.delete(id);
		this.#settings.delete(id);
		const device = this.#aliases.unclaim(id, alias);
		if (device !== undefined) {
			this.#realias(device);
		}
	}

	/** Removes a server here. */
	protected remove(id: string): void {
		const server = this.#servers.get(id);
		this.#servers.delete(id);
		this.#waiting.delete(id);
		this.#withoutLists.delete(id);
		if (server?.known) {
			this.#aliases.release(id, server.alias);
			this.renamed();
		}
	}

	/** The alias for a server: the one that it has, or else one that is made from its settings or its board's name. */
	aliasFor(server: Server, boardName: string): string {
		const { id, known } = server;
		return this.#configuredAliases.get(id) ?? this.#aliases.assign(id, boardName, known ? server.alias : undefined);
	}

	/** The tags for a device. */
	protected tagsFor(id: string): { readonly tags?: readonly string[] } {
		const tags = this.#settings.has(id) ? [] : this.#tagsOf(id);
		return tags.length > 0 ? { tags } : {};
	}

	#realias(id: string): void {
		const device = this.#servers.get(id);
		if (device?.known && !this.#settings.has(id)) {
			this.#setAlias(id, this.#aliases.assign(id, device.board.name, device.alias));
			this.save(id);
		}
	}

	#setAlias(id: string, alias: string): void {
		const server = this.#servers.get(id);
		if (server?.known && server.alias !== alias) {
			server.update({ ...server.record, alias });
			this.renamed();
		}
	}

	/**
	 * Gives a server another alias, other tags, or both, and notifies clients. Settles when that is stored: what cannot be
	 * stored is not changed.
	 *
	 * Rejects with RangeError when the alias is invalid or another server's, or a tag is invalid, or the configuration chose the
	 * server's; with StoreError if the store cannot be written.
	 *
	 * @returns the server; undefined if it is unknown, or was forgotten meanwhile
	 */
	async edit(name: string, { alias, tags }: ServerEdit): Promise<Server | undefined> {
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
		const kept = tags && readTags(tags);
		if (alias !== undefined && alias !== server.alias) {
			await this.#aliases.rename(id, alias, (holder) => this.#servers.has(holder));
		}
		if (kept !== undefined && JSON.stringify(kept) !== JSON.stringify(server.tags)) {
			await this.#store.update(TAGS + id, () => kept);
		}
		// Another gateway may have forgotten it before that was stored.
		if (!this.#servers.has(id)) {
			await this.#removeNames(id);
			return undefined;
		}
		return server;
	}

	/**
	 * Forgets a device that is offline. What is being written of it is written before, and what is to be written is not.
	 * Rejects with StoreError.
	 */
	protected async forgetDevice(id: string): Promise<void> {
		await this.#change(id, async () => {
			await this.#store.delete(DEVICE + id);
			// Nobody tells of the removal of a record that was never stored.
			this.#onRecord(id, this.#store.get(DEVICE + id));
			await this.#removeNames(id);
		});
	}

	/** Removes the aliases and tags of a device that was forgotten. Rejects with StoreError. */
	async #removeNames(id: string): Promise<void> {
		await this.#aliases.forget(id);
		await this.#store.delete(TAGS + id);
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

	#onAlias(key: string, entry: Entry | undefined): void {
		for (const id of this.#aliases.noteEntry(key, entry)) {
			this.#realias(id);
		}
	}

	#onTags(id: string): void {
		const server = this.#servers.get(id);
		if (server?.known && !this.#settings.has(id)) {
			const { tags: _, ...record } = server.record;
			server.update({ ...record, ...this.tagsFor(id) });
			this.changed();
		}
	}

	#tagsOf(id: string): readonly string[] {
		const value = this.#store.get(TAGS + id)?.value;
		try {
			return value === undefined ? [] : readTags(z.array(z.string()).parse(value));
		} catch (error) {
			this.warn(`${TAGS}${id}: ${(error as Error).message}`);
			return [];
		}
	}

	#onRecord(id: string, entry: Entry | undefined): void {
		const server = this.#servers.get(id);
		if (this.#settings.has(id)) {
			return;
		}
		if (server !== undefined && isHere(server)) {
			// Another gateway has removed or replaced what this one has to say.
			this.save(id);
		} else if (entry !== undefined) {
			this.#read(id, entry.value);
		} else if (server !== undefined) {
			server.connection?.close("the device was forgotten");
			this.remove(id);
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
		for (const server of this.servers.filter((each) => isHere(each) && uses(each.id))) {
			this.save(server.id);
		}
	}

	/** Has a device stored soon, as it is then. Configured servers are not stored: the configuration lists them. */
	protected save(id: string): void {
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
			return isSame(before?.value, record, isHere(server)) ? undefined : record;
		});
	}

	/** Returns the hash of a device's lists; undefined if they are refused. Rejects with StoreError if the store cannot be reached. */
	async #saveOffers({ id, offers }: Server): Promise<string | undefined> {
		try {
			const hash = await this.#offers.save(id, offers);
			this.#withoutLists.delete(id);
			return hash;
		} catch (error) {
			if (error instanceof StoreError && (error.code !== "not-written" || !this.#store.isConnected)) {
				throw error;
			}
			this.refusedLists += 1;
			if (!this.#withoutLists.has(id)) {
				this.#withoutLists.add(id);
				this.warn(`${id}: its lists are not stored: ${(error as Error).message}`);
			}
			return undefined;
		}
	}

	/** Removes lists that no device uses, and stores those again that were refused. */
	async #tidy(): Promise<void> {
		for (const id of this.#withoutLists) {
			this.save(id);
		}
		await this.#offers.removeUnused(new Set(this.#store.list(DEVICE).map(offersIn)));
	}

	/** Emits that a connection or a message was rejected. */
	reject(description: string): void {
		this.emit("rejected", description);
	}

	/** Reports a visible change of a known server other than its alias. */
	protected changed(): void {
		this.#version += 1;
		// Thousands of devices may connect at the same time.
		this.#changeTimer ??= setTimeout(() => {
			this.#changeTimer = undefined;
			this.emit("changed");
		}, this.#changeDelay);
	}

	/** A server has become known, is no longer known, or has another alias. */
	protected renamed(): void {
		this.#sorted = undefined;
		this.changed();
	}

	/** Reports no further changes. Settles when everything is stored, or cannot be. */
	async close(): Promise<void> {
		clearTimeout(this.#changeTimer);
		clearInterval(this.#tidyTimer);
		await this.#context.checker.close();
		await this.#saveAll();
		clearTimeout(this.#retryTimer);
		for (const end of this.#unwatch.splice(0)) {
			end();
		}
	}
}

/** Whether a device is connected to this gateway. */
function isHere({ connection }: Server): boolean {
	return connection !== undefined && connection.identity.gateway === undefined;
}

/** The hash of the lists of a device. */
function offersIn(entry: Entry | undefined): string | undefined {
	return RECORD.shape.offers.safeParse((entry?.value as { offers?: unknown } | undefined)?.offers).data;
}

/** Whether the store has a record. Of a device that is here, another gateway may have stored another time. */
function isSame(before: unknown, record: z.infer<typeof RECORD>, isHere: boolean): boolean {
	const { data } = RECORD.safeParse(before);
	return (
		data !== undefined &&
		JSON.stringify({ ...data, ...(isHere && { lastSeen: record.lastSeen }) }) === JSON.stringify(record)
	);
}
