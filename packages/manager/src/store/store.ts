import { EventEmitter } from "node:events";

/** Why a change failed. Only with "unknown" may it have been made. */
export type StoreErrorCode =
	/** The entry is not the one that the caller expected. */
	| "conflict"
	/** Nothing was written: the store cannot be reached, or its medium is full. */
	| "not-written"
	/** The store did not answer. The change may have been made, or be made later. */
	| "unknown";

/** The error of a change that was not made, or whose outcome is unknown. */
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

/** Called with the new state of an entry; undefined: it was removed. */
export type StoreListener = (key: string, entry: Entry | undefined) => void;

export interface StoreEvents {
	/** A change was written, or could not be written because of this problem, which is never a conflict. */
	saved: [problem: StoreError | undefined];
	/** A problem for the operator, such as a damaged entry that was set aside. */
	warning: [message: string];
	/** The store can be reached again. Its entries are up to date. */
	connected: [];
	/** The store cannot be reached. Its entries keep their last known state. */
	disconnected: [];
}

/** Milliseconds until failed writes are retried. */
const RETRY_TIME = 1_000;

/** Maximum number of queued changes while the store cannot be written; beyond that, the oldest one is lost. */
const MAX_WAITING = 20_000;

const PARALLEL_WRITES = 32;

/** Maximum attempts at a change while others change the same entry. */
const MAX_ATTEMPTS = 30;

/** Longest pause in milliseconds before an attempt while the copy lacks the change of the faster writer. */
const MAX_PAUSE = 10;

/**
 * Persistent state of a program, as entries by key. Reads are synchronous, from a copy in memory, which is always a state that the store
 * has had. A change settles when the copy has it, so that a writer reads its own write.
 *
 * Values that must be unique or used once are written by compare-and-set. A watch shows states, never edges: several
 * quick changes of an entry may be seen as one.
 */
export abstract class Store extends EventEmitter<StoreEvents> {
	/** Entries by the first segment of the key, then by key. */
	readonly #rooms = new Map<string, Map<string, Entry>>();
	readonly #watchers = new Set<{ readonly prefix: string; readonly listener: StoreListener }>();
	/** Queued changes by key, the oldest first. */
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
	 * @param expected the revision of the entry that is replaced; 0: there must be none; undefined: any or none
	 */
	abstract set(key: string, value: unknown, expected?: number): Promise<Entry>;

	/** Removes an entry, if there is one. Settles and rejects as {@link set} does. */
	abstract delete(key: string, expected?: number): Promise<void>;

	/**
	 * Changes an entry by compare-and-set, and retries if another writer was faster. Rejects with StoreError.
	 *
	 * @param change returns the new value, null to remove the entry, or undefined to leave it unchanged
	 * @returns the resulting entry
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
				// If the copy already has the other change, a pause would only let others be faster again.
				if (this.get(key)?.revision === entry?.revision) {
					await new Promise((resolve) => setTimeout(resolve, Math.random() * MAX_PAUSE));
				}
			}
		}
	}

	/**
	 * Queues a value; undefined removes the entry. Only the last value of a key is written. It is kept in memory while
	 * the store cannot be written: use it for reports of devices, which cannot be refused.
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

	/** Settles when every change of {@link later} was written or has failed. */
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

	/** Sets or removes an entry of the copy, and notifies its watchers. */
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

	/** Writes the queued changes, now that the store can be written again. */
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

	/** Writes the queued changes. Those that fail stay queued. */
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
