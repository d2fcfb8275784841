import { createHash, randomUUID } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import pLimit from "p-limit";
import { type Entry, replaceFile, roomOf, Store, StoreError } from "xs-mcp-manager/core";
import * as z from "zod";
import { UnsavedError, withLock } from "../config/state-files.js";

const EXTENSION = ".json";

/** In each room: replaced after each change that another process has to see. */
const VERSION = "version";

const ENTRY = z.object({ key: z.string(), revision: z.number(), value: z.unknown() });

/**
 * A store in a folder: one file for each entry, `ROOM/HASH.json`. After a crash a file is the old or the new one.
 *
 * A change with an expected revision is made under the room's lock and is on the medium when it settles; other processes see it
 * with {@link refresh}. One without is not flushed, nor are changes of the rooms that this process owns.
 */
export class FileStore extends Store {
	readonly #folder: string;
	/** {@link VERSION} of each room when it was read last. */
	readonly #versions = new Map<string, string>();
	/** Changes, one after the other: the copy must not differ from the files. */
	readonly #changes = pLimit(1);
	readonly #owned: ReadonlySet<string>;
	#revision = 0;

	private constructor(folder: string, owned: readonly string[]) {
		super();
		this.#folder = folder;
		this.#owned = new Set(owned);
	}

	/**
	 * Opens the folder, which may be missing. A damaged file is set aside as NAME.damaged.
	 *
	 * @param owned rooms that no other process changes, and this one often: thousands of devices that connect would take minutes
	 * on an SD card
	 * @throws Error of the file system if the folder cannot be made or read
	 */
	static open(
		folder: string,
		onWarning: (message: string) => void = () => {},
		owned: readonly string[] = [],
	): FileStore {
		const store = new FileStore(folder, owned);
		store.on("warning", onWarning);
		mkdirSync(folder, { recursive: true, mode: 0o700 });
		for (const room of readdirSync(folder, { withFileTypes: true })) {
			if (room.isDirectory() && !room.name.endsWith(".locked")) {
				store.refresh(room.name);
			}
		}
		return store;
	}

	async set(key: string, value: unknown, expected?: number): Promise<Entry> {
		const isLight = expected === undefined || this.#owned.has(roomOf(key));
		const write = async (check?: () => void): Promise<Entry> => {
			const path = this.#pathOf(key);
			// Another process may have written the entry in the same millisecond.
			this.#revision = Math.max(Date.now() * 1_000, this.#revision + 1, (this.get(key)?.revision ?? 0) + 1);
			const entry = { key, value, revision: this.#revision };
			const text = `${JSON.stringify(entry)}\n`;
			if (check === undefined) {
				this.expect(key, expected);
				try {
					await writeFile(`${path}.new`, text, { mode: 0o600 });
					await rename(`${path}.new`, path);
				} catch (error) {
					await rm(`${path}.new`, { force: true });
					throw error;
				}
			} else {
				await replaceFile(path, text, check);
			}
			this.apply(key, entry);
			return entry;
		};
		return await this.#change(key, () => (isLight ? write() : this.#locked(key, expected, write)));
	}

	async delete(key: string, expected?: number): Promise<void> {
		const remove = async (check = () => this.expect(key, expected)): Promise<void> => {
			check();
			await rm(this.#pathOf(key), { force: true });
			this.apply(key, undefined);
		};
		const isLight = this.#owned.has(roomOf(key));
		await this.#change(key, () => (isLight ? remove() : this.#locked(key, expected, remove)));
	}

	/** Reads the rooms of these entries again if another process has changed them. */
	override refresh(prefix: string): void {
		const room = roomOf(prefix);
		// Read before the entries: if they change in between, they are read again next time.
		const version = this.#versionOf(room);
		if (this.#versions.get(room) !== version) {
			this.replace(this.#read(room), room);
			this.#versions.set(room, version);
		}
	}

	/** Makes a change that other processes see, on the newest entries. */
	async #locked<T>(key: string, expected: number | undefined, write: (check: () => void) => Promise<T>): Promise<T> {
		const room = roomOf(key);
		return await withLock(join(this.#folder, room), async () => {
			this.refresh(room);
			const version = this.#versions.get(room);
			this.expect(key, expected);
			const result = await write(() => {
				// This process did not run for a while, so that another one has taken over the lock.
				if (this.#versionOf(room) !== version) {
					throw new StoreError("conflict", `${key}: changed by another process`);
				}
			});
			this.#versions.set(room, this.#nextVersion(room));
			return result;
		});
	}

	async #change<T>(key: string, change: () => Promise<T>): Promise<T> {
		try {
			mkdirSync(join(this.#folder, roomOf(key)), { recursive: true, mode: 0o700 });
			const result = await this.#changes(change);
			this.emit("saved", undefined);
			return result;
		} catch (error) {
			if (error instanceof StoreError) {
				throw error;
			}
			const { message } =
				error instanceof UnsavedError ? error : new UnsavedError(join(this.#folder, roomOf(key)), error as Error);
			const problem = new StoreError("not-written", message, { cause: error });
			this.emit("saved", problem);
			throw problem;
		}
	}

	/** Devices choose their ids, and file systems differ in the names that they allow: a hash works everywhere. */
	#pathOf(key: string): string {
		const name = createHash("sha256").update(key).digest("hex").slice(0, 32);
		return join(this.#folder, roomOf(key), name + EXTENSION);
	}

	#read(room: string): ReadonlyMap<string, Entry> {
		const names = namesIn(join(this.#folder, room)).filter((name) => name.endsWith(EXTENSION));
		const entries = names.flatMap((name) => this.#readEntry(join(this.#folder, room, name), room) ?? []);
		return new Map(entries.map((entry) => [entry.key, entry]));
	}

	#readEntry(path: string, room: string): Entry | undefined {
		try {
			const { key, revision, value } = ENTRY.parse(JSON.parse(readFileSync(path, "utf8")));
			if (roomOf(key) !== room) {
				throw new Error(`its key is ${key}`);
			}
			return { key, revision, value };
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code === "ENOENT") {
				// Another process has removed it.
				return undefined;
			}
			renameSync(path, `${path}.damaged`);
			this.emit("warning", `${path}: not an entry: ${(error as Error).message}; set aside as ${path}.damaged`);
			return undefined;
		}
	}

	/** Names the state of a room: each change gives the file another inode or another time. */
	#versionOf(room: string): string {
		const found = statSync(join(this.#folder, room, VERSION), { throwIfNoEntry: false, bigint: true });
		return found === undefined ? "" : `${found.ino} ${found.mtimeNs}`;
	}

	#nextVersion(room: string): string {
		const path = join(this.#folder, room, VERSION);
		const temporary = `${path}.${randomUUID()}`;
		try {
			writeFileSync(temporary, "", { mode: 0o600 });
			renameSync(temporary, path);
		} catch (error) {
			rmSync(temporary, { force: true });
			throw error;
		}
		return this.#versionOf(room);
	}
}

/** Names of the files in a folder, which may be missing. */
export function namesIn(folder: string): readonly string[] {
	try {
		return readdirSync(folder);
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "ENOENT") {
			return [];
		}
		throw error;
	}
}
