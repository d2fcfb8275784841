import { EventEmitter } from "node:events";

/** Why a change was not made, or perhaps was. The three are never mixed. */
export type StoreErrorCode =
	/** The entry is not the one that the caller expected. */
	| "conflict"
	/** Nothing was written: the store cannot be reached, or its medium is full. */
	| "not-written"
	/** The store did not answer. The change may have been made, or be made later. */
	| "unknown";

/** A change that was not made, or perhaps was. */
export class StoreError extends Error {
	override readonly name = "StoreError";
	readonly code: StoreErrorCode;

	constructor(code: StoreErrorCode, message: string, options?: ErrorOptions) {
		super(message, options);
		this.code = code;
	}
}

/** An entry of a store. Its value is JSON, and is never modified. */
export interface Entry<Value = unknown> {
	/** Segments of any characters, with "/" between them: `device/24:6f:28:00:00:01`. */
	readonly key: string;
	readonly value: Value;
	/** Increases with each change of the entry. */
	readonly revision: number;
}

/** A listener is told what an entry has become; undefined: it was removed. */
export type StoreListener = (key: string, entry: Entry | undefined) => void;

export interface StoreEvents {
	/** A change was written, or why it could not be; never a conflict. */
	saved: [problem: StoreError | undefined];
	/** Something for the operator: a damaged entry was set aside. */
	warning: [message: string];
	/** The store can be written again, after a time in which it could not. Its entries are what they have become meanwhile. */
	connected: [];
	/** The store cannot be reached. Its entries stay as they were read last. */
	disconnected: [];
}

/** Milliseconds until changes that could not be written are tried again. */
const RETRY_TIME = 1_000;

/** Changes that wait because the store cannot be written; beyond that, the oldest one is lost. */
const MAX_WAITING = 20_000;

const PARALLEL_WRITES = 32;

/** How often a change is tried while others change the same entry. */
const MAX_ATTEMPTS = 30;

/** Milliseconds before an attempt, at most, while the copy does not have the change of the faster writer. */
const MAX_PAUSE = 10;

/**
 * Persistent state of a program, as entries by key. Reads are synchronous, from a copy in memory, which is always a state that the store
 * has had. A change settles when the copy has it, so that a writer reads its own write.
 *
 * What must be unique or used once is written by compare-and-set. A watch shows states, never edges: several quick changes of an
 * entry may be seen as one.
 */
export abstract class Store extends EventEmitter<StoreEvents> {
	/** Entries by the first segment of the key, then by key. */
	readonly #rooms = new Map<string, Map<string, Entry>>();
	readonly #watchers = new Set<{ readonly prefix: string; readonly listener: StoreListener }>();
	/** Changes that are to be written soon, by key. The oldest first. */
	readonly #waiting = new Map<string, unknown>();
	#writing: Promise<void> | undefined;
	#retry: NodeJS.Timeout | undefined;

	get isConnected(): boolean {
		return true;
	}

	/** The time that all users of this store share, in milliseconds since 1970. */
	get now(): number {
		return Date.now();
	}

	/** The entry with a key, as it was read last. */
	get(key: string): Entry | undefined {
		return this.#rooms.get(roomOf(key))?.get(key);
	}

	/** The entries whose key begins with a prefix: at least one whole segment, "device/". */
	list(prefix: string): Entry[] {
		const room = [...(this.#rooms.get(roomOf(prefix))?.values() ?? [])];
		return prefix.length === roomOf(prefix).length + 1 ? room : room.filter(({ key }) => key.startsWith(prefix));
	}

	/** Calls a listener with each later change of entries whose key begins with a prefix. Returns a function that ends it. */
	watch(prefix: string, listener: StoreListener): () => void {
		const watcher = { prefix, listener };
		this.#watchers.add(watcher);
		return () => void this.#watchers.delete(watcher);
	}

	/**
	 * Writes an entry. Settles when it is stored, and the copy has it. Rejects with StoreError.
	 *
	 * @param value JSON
	 * @param expected the revision of the entry that is replaced; 0: there must be none; undefined: whatever there is
	 */
	abstract set(key: string, value: unknown, expected?: number): Promise<Entry>;

	/** Removes an entry, if there is one. Settles and rejects as {@link set} does. */
	abstract delete(key: string, expected?: number): Promise<void>;

	/**
	 * Changes an entry as it is now, and again if another one was faster. Rejects with StoreError.
	 *
	 * @param change returns the new value, null to remove the entry, or undefined to leave it as it is
	 * @returns the entry as it is then
	 */
	async update(key: string, change: (entry: Entry | undefined) => unknown): Promise<Entry | undefined> {
		for (let attempt = 1; ; attempt += 1) {
			const entry = this.get(key);
			const value = change(entry);
			if (value === undefined || (value === null && entry === undefined)) {
				return entry;
			}
			try {
				if (value !== null) {
					return await this.set(key, value, entry?.revision ?? 0);
				}
				await this.delete(key, entry?.revision);
				return undefined;
			} catch (error) {
				if (!isConflict(error) || attempt === MAX_ATTEMPTS) {
					throw error;
				}
				// A pause with a copy that is up to date would only let others be faster again.
				if (this.get(key)?.revision === entry?.revision) {
					await new Promise((resolve) => setTimeout(resolve, Math.random() * MAX_PAUSE));
				}
			}
		}
	}

	/**
	 * Writes a value soon; undefined removes the entry. Only the last one of a key counts. It waits in memory while the store
	 * cannot be written: for what devices report, which nobody can refuse.
	 */
	later(key: string, value: unknown): void {
		this.#waiting.delete(key);
		this.#waiting.set(key, value);
		const [oldest] = this.#waiting.keys();
		if (this.#waiting.size > MAX_WAITING && oldest !== undefined) {
			this.#waiting.delete(oldest);
		}
		this.resume();
	}

	/** Settles when every change of {@link later} is written, or could not be. */
	async flush(): Promise<void> {
		this.resume();
		await this.#writing;
	}

	/** Updates the copy with changes of other processes, for stores that do not report them: files. */
	refresh(_prefix: string): void {}

	/** Settles when the copy has everything that was written before, by others too. Rejects with StoreError. */
	async sync(): Promise<void> {}

	/** Ends the store, after {@link flush}. */
	async close(): Promise<void> {
		await this.flush();
		clearTimeout(this.#retry);
		this.#watchers.clear();
	}

	/** Gives the copy an entry, or takes it away, and tells who watches it. */
	protected apply(key: string, entry: Entry | undefined, isSameHistory = true): void {
		const name = roomOf(key);
		const room = this.#rooms.get(name) ?? new Map<string, Entry>();
		const isKnown = isSameHistory && room.get(key)?.revision === entry?.revision;
		if (entry === undefined ? !room.delete(key) : isKnown) {
			return;
		}
		if (entry !== undefined) {
			room.set(key, entry);
		}
		this.#rooms.set(name, room);
		for (const { prefix, listener } of [...this.#watchers]) {
			if (key.startsWith(prefix)) {
				listener(key, entry);
			}
		}
	}

	/**
	 * Replaces the copy of a room, or of all rooms, by entries that were read as a whole.
	 *
	 * @param isSameHistory false: the store was created again, so its revisions cannot be compared with those of the copy
	 */
	protected replace(entries: ReadonlyMap<string, Entry>, room?: string, isSameHistory = true): void {
		const rooms = room === undefined ? [...this.#rooms.keys()] : [room];
		for (const { key } of rooms.flatMap((name) => this.list(`${name}/`))) {
			if (!entries.has(key)) {
				this.apply(key, undefined);
			}
		}
		for (const [key, entry] of entries) {
			this.apply(key, entry, isSameHistory);
		}
	}

	/** Writes what waits, now that it can be written again. */
	protected resume(): void {
		if (this.#waiting.size > 0) {
			this.#writing ??= this.#write();
		}
	}

	/** @throws StoreError if the copy's entry is not the expected one */
	protected expect(key: string, expected: number | undefined): void {
		if (expected !== undefined && expected !== (this.get(key)?.revision ?? 0)) {
			throw new StoreError("conflict", `${key}: changed by another writer`);
		}
	}

	/** Writes what waits. What could not be written waits on. */
	async #write(): Promise<void> {
		// Changes of a key in the same turn are written once.
		await new Promise((resolve) => setImmediate(resolve));
		clearTimeout(this.#retry);
		let problem: unknown;
		while (this.#waiting.size > 0 && problem === undefined) {
			const batch = [...this.#waiting].slice(0, PARALLEL_WRITES);
			const write = async ([key, value]: [string, unknown]): Promise<void> => {
				this.#waiting.delete(key);
				try {
					await (value === undefined ? this.delete(key) : this.set(key, value));
				} catch (error) {
					problem = error;
					if (!this.#waiting.has(key)) {
						this.#waiting.set(key, value);
					}
				}
			};
			await Promise.all(batch.map(write));
		}
		this.#writing = undefined;
		if (problem !== undefined) {
			this.#retry = setTimeout(() => this.resume(), RETRY_TIME).unref();
		}
	}
}

/** A store that ends with the process. */
export class MemoryStore extends Store {
	#revision = 0;

	async set(key: string, value: unknown, expected?: number): Promise<Entry> {
		this.expect(key, expected);
		this.#revision += 1;
		const entry = { key, value, revision: this.#revision };
		this.apply(key, entry);
		return entry;
	}

	async delete(key: string, expected?: number): Promise<void> {
		this.expect(key, expected);
		this.apply(key, undefined);
	}
}

/** Whether a change is made; false if another writer was faster. Rejects with any other error. */
export async function isMade(change: Promise<unknown>): Promise<boolean> {
	try {
		await change;
		return true;
	} catch (error) {
		if (isConflict(error)) {
			return false;
		}
		throw error;
	}
}

/** Whether an entry was not the one that the writer expected. */
export function isConflict(error: unknown): boolean {
	return error instanceof StoreError && error.code === "conflict";
}

/** The first segment of a key. */
export function roomOf(key: string): string {
	const end = key.indexOf("/");
	return end < 0 ? key : key.slice(0, end);
}
