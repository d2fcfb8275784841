import { EventEmitter } from "node:events";
import { Aliases, readTags } from "./aliases.js";
import type { CallDetails, CallLimits, CallRecord, Uploads } from "./calls.js";
import { SchemaChecker } from "./schema-checker.js";
import { Server, type ServerContext, type ServerRecord, type ServerSettings } from "./server.js";
import type { Session } from "./session.js";
import { SharedLists } from "./shared-lists.js";
import { ServerStore } from "./store.js";

export interface ServerDirectoryOptions extends CallLimits {
	/** The folder of records. Default: none; servers are known until the process ends. */
	readonly folder?: string;
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
	/** A session has begun. */
	connected: [server: Server, session: Session];
	/** A session has ended. `isLeaving`: the server was online, and is offline now; never while the registry closes. */
	disconnected: [server: Server, session: Session, reason: string, isLeaving: boolean];
	/** A server can be called. */
	online: [server: Server];
	/**
	 * A server sent a notification; progress and cancellation go to their calls. `isState`: it has changed the content of
	 * `device://ALIAS/state`.
	 */
	notification: [server: Server, method: string, params: Readonly<Record<string, unknown>>, isState: boolean];
	/** A server sent progress of a call, or cancelled a request of its own. */
	requestNotification: [server: Server, method: string, params: Readonly<Record<string, unknown>>];
	/** Servers, tools or names have changed: once for a burst of changes. The version of the registry has increased. */
	changed: [];
	/** The operator has given a server another alias, other tags, or both. */
	edited: [server: Server, change: ServerEdit];
	/** A server was forgotten. */
	forgotten: [id: string];
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

/** Every server by id and alias, with its settings and its record on disk. */
export class ServerDirectory extends EventEmitter<RegistryEvents> {
	/** The lists of all servers. */
	protected readonly lists = new SharedLists();
	readonly #context: ServerContext;
	readonly #changeDelay: number;
	protected readonly maxServers: number;
	readonly #aliases: Aliases;
	readonly #store: ServerStore | undefined;
	/** By id. A server that has never been discovered is in it only during its session. */
	readonly #servers = new Map<string, Server>();
	/** Of configured servers, by id. */
	readonly #settings = new Map<string, ServerSettings>();
	readonly #configuredAliases = new Map<string, string>();
	#sorted: readonly Server[] | undefined;
	#version = 0;
	#changeTimer: NodeJS.Timeout | undefined;
	protected readonly warn = (message: string): void => void this.emit("warning", message);

	constructor(options: ServerDirectoryOptions) {
		super();
		// One listener per client.
		this.setMaxListeners(0);
		const { folder, aliases, changeDelay = 250, maxServers = 10_000 } = options;
		this.#context = {
			...options,
			checker: new SchemaChecker(this.warn),
			onCall: (record, details) => this.emit("call", record, details),
			onUpdated: (server, uri) => this.emit("updated", server, uri),
			warn: this.warn,
		};
		this.#changeDelay = changeDelay;
		this.maxServers = maxServers;
		this.#aliases = new Aliases(aliases);
		this.#store =
			folder === undefined ? undefined : new ServerStore(folder, this.warn, (error) => this.emit("saved", error));
	}

	/** Reads what is on disk. Rejects with a RangeError if the folder cannot be used. */
	async load(): Promise<void> {
		for (const record of (await this.#store?.load()) ?? []) {
			this.#load(record);
		}
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
		const server = this.#servers.get(id) ?? new Server(id, this.#context, undefined, this.#settings.get(id));
		this.#servers.set(id, server);
		return server;
	}

	/** Adds a server that is offline. Its alias differs from the record's if another server has that. */
	protected add(record: ServerRecord): void {
		this.save(this.#load(record).record);
		this.renamed();
	}

	#load(record: ServerRecord): Server {
		const alias = this.#aliases.assign(record.id, record.board.name, record.alias);
		const offers = this.lists.offers(this.lists.shareAll(record.offers));
		const server = new Server(record.id, this.#context, { ...record, alias, offers });
		this.#servers.set(record.id, server);
		return server;
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
			device.session?.close("the id belongs to a configured server");
			// The store warns if it cannot.
			this.remove(id).catch(() => {});
		}
		// Connected servers whose ids would give them this alias may get another.
		const rivals = [...this.#settings].filter(([, { alias }]) => alias === settings.alias);
		for (const [rival] of rivals) {
			const { alias, loser } = this.#aliases.claim(rival, settings.alias, rivals.length > 1);
			this.#configuredAliases.set(rival, alias);
			this.#realias(rival, alias);
			if (loser !== undefined && !this.#settings.has(loser)) {
				this.#resetAlias(loser);
			}
		}
	}

	/** Removes a configured server. */
	unconfigure(id: string): void {
		// The store warns if it cannot.
		this.remove(id).catch(() => {});
		const alias = this.#configuredAliases.get(id) ?? "";
		this.#configuredAliases.delete(id);
		this.#settings.delete(id);
		this.#aliases.release(id, alias);
	}

	/** Forgets a server. Settles when that is on disk. */
	async remove(id: string): Promise<void> {
		const server = this.#servers.get(id);
		this.#servers.delete(id);
		if (server?.known) {
			this.#aliases.release(id, server.alias);
			const removed = this.#store?.remove(id);
			this.renamed();
			await removed;
		}
	}

	/** The alias for a server: the one that it has, or else one that is made from its settings or its board's name. */
	aliasFor(server: Server, boardName: string): string {
		const { id, known } = server;
		return this.#configuredAliases.get(id) ?? this.#aliases.assign(id, boardName, known ? server.alias : undefined);
	}

	/** Gives a device its default alias, since another one has got its alias. */
	#resetAlias(id: string): void {
		const device = this.#servers.get(id);
		if (device?.known) {
			this.#realias(id, this.#aliases.assign(id, device.record.board.name, undefined));
			this.save(device.record);
		}
	}

	#realias(id: string, alias: string): void {
		const server = this.#servers.get(id);
		if (server?.known && server.alias !== alias) {
			server.alias = alias;
			this.renamed();
		}
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
	async edit(name: string, edit: ServerEdit): Promise<Server | undefined> {
		const server = this.find(name);
		if (server === undefined || !differs(server, edit)) {
			return server;
		}
		const before = server.record;
		const change = this.#prepare(server, edit);
		try {
			await this.#store?.save({ ...before, ...change });
		} catch (error) {
			this.#releaseUnused(server.id, change.alias);
			throw error;
		}
		this.#apply(server, before, change);
		if (this.#servers.get(server.id) === server) {
			this.emit("edited", server, change);
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
	relabel(name: string, edit: ServerEdit): string | undefined {
		const server = this.find(name);
		if (server === undefined || !differs(server, edit)) {
			return undefined;
		}
		const { alias = server.alias } = edit;
		const owner = this.#aliases.owner(alias) ?? server.id;
		this.#apply(server, undefined, this.#prepare(server, edit, this.#settings.has(owner) ? server.id : owner));
		// One whose edit is not on disk yet only loses that.
		const loser = owner !== server.id && this.#servers.get(owner)?.alias === alias ? owner : undefined;
		if (loser !== undefined) {
			this.#resetAlias(loser);
		}
		return loser;
	}

	/**
	 * Checks an edit, and reserves the alias.
	 *
	 * @param owner the device that may lose it
	 * @throws RangeError
	 */
	#prepare({ id, alias: before }: Server, { alias, tags }: ServerEdit, owner = id) {
		if (this.#settings.has(id)) {
			throw new RangeError(
				tags === undefined
					? `alias of ${id}: derived from its configured id, cannot be set`
					: `tags of ${id}: only devices have tags`,
			);
		}
		const renamed = alias === undefined || alias === before ? undefined : alias;
		const change = { ...(renamed !== undefined && { alias: renamed }), ...(tags && { tags: readTags(tags) }) };
		if (renamed !== undefined) {
			this.#aliases.reserve(id, renamed, owner);
		}
		return change;
	}

	/**
	 * Shows clients an edit.
	 *
	 * @param stored the record with which it was stored; undefined if it has not been stored
	 * @throws RangeError if another server has taken the alias meanwhile
	 */
	#apply(server: Server, stored: ServerRecord | undefined, change: ServerEdit): void {
		const { id, alias: old } = server;
		const { alias = old, tags = server.tags } = change;
		const owner = this.#aliases.owner(alias);
		if (this.#servers.get(id) !== server) {
			// Forgotten meanwhile.
			this.#releaseUnused(id, alias);
			return;
		}
		if (owner !== id) {
			this.save(server.record);
			throw new RangeError(`alias ${alias}: already assigned to ${owner}`);
		}
		const isStored = server.record === stored;
		server.alias = alias;
		server.tags = tags;
		if (!isStored) {
			// Also if something else of it has changed meanwhile.
			this.save(server.record);
		}
		if (alias === old) {
			this.changed();
		} else {
			this.#aliases.release(id, old);
			this.renamed();
		}
	}

	/** Frees an alias that was reserved, unless the server got it in another way meanwhile. */
	#releaseUnused(id: string, alias: string | undefined): void {
		if (alias !== undefined && this.#servers.get(id)?.alias !== alias) {
			this.#aliases.release(id, alias);
		}
	}

	/** Configured servers are not stored: the configuration lists them. */
	protected save(record: ServerRecord): void {
		if (!this.#settings.has(record.id)) {
			// The store warns if it cannot.
			this.#store?.save(record).catch(() => {});
		}
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

	/** Reports no further changes. Settles when everything is on disk. */
	async close(): Promise<void> {
		clearTimeout(this.#changeTimer);
		await this.#context.checker.close();
		await this.#store?.flush();
	}
}

/** Whether an edit would change something. */
function differs(server: Server, { alias = server.alias, tags = server.tags }: ServerEdit): boolean {
	return alias !== server.alias || JSON.stringify(tags) !== JSON.stringify(server.tags);
}
