import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type DeviceRecord, isDeviceRecord } from "./known-device.js";

const EXTENSION = ".json";

/**
 * Keeps device records on disk, each in a file of its own, so that a device that changes costs one small file however
 * many there are. A file is written under another name first: a crash leaves the old one or the new one.
 */
export class DeviceFiles {
	readonly #folder: string;
	readonly #warn: (message: string) => void;
	/** What is yet to be written, by device id. `undefined`: to be removed. */
	readonly #pending = new Map<string, DeviceRecord | undefined>();
	#writing: Promise<void> | undefined;

	/** @param warn hears of what could not be read or written */
	constructor(folder: string, warn: (message: string) => void) {
		this.#folder = folder;
		this.#warn = warn;
	}

	/**
	 * Reads all records. A damaged file is set aside, with a warning. Rejects when the folder cannot be made or read.
	 */
	async load(): Promise<DeviceRecord[]> {
		await mkdir(this.#folder, { recursive: true, mode: 0o700 });
		const records: DeviceRecord[] = [];
		for (const name of await readdir(this.#folder)) {
			const record = name.endsWith(EXTENSION) ? await this.#read(join(this.#folder, name)) : undefined;
			if (record !== undefined) {
				records.push(record);
			}
		}
		return records;
	}

	/** Writes a record soon. */
	save(record: DeviceRecord): void {
		this.#schedule(record.id, record);
	}

	/** Removes a record soon. */
	remove(id: string): void {
		this.#schedule(id, undefined);
	}

	/** Settles when everything is written. */
	async flush(): Promise<void> {
		await this.#writing;
	}

	async #read(path: string): Promise<DeviceRecord | undefined> {
		try {
			const record: unknown = JSON.parse(await readFile(path, "utf8"));
			if (!isDeviceRecord(record)) {
				throw new Error("no record of a device");
			}
			return record;
		} catch (error) {
			await rename(path, `${path}.damaged`);
			this.#warn(`${path}: ${(error as Error).message}; set aside as ${path}.damaged`);
			return undefined;
		}
	}

	#schedule(id: string, record: DeviceRecord | undefined): void {
		this.#pending.set(id, record);
		this.#writing ??= this.#writePending();
	}

	async #writePending(): Promise<void> {
		// What happens to a device in one go is written once.
		await new Promise((resolve) => setImmediate(resolve));
		for (const [id, record] of this.#pending) {
			this.#pending.delete(id);
			try {
				await this.#write(id, record);
			} catch (error) {
				this.#warn(`${id}: not kept on disk: ${(error as Error).message}`);
			}
		}
		this.#writing = undefined;
	}

	async #write(id: string, record: DeviceRecord | undefined): Promise<void> {
		const path = this.#pathOf(id);
		if (record === undefined) {
			await rm(path, { force: true });
			return;
		}
		const temporary = `${path}.new`;
		await writeFile(temporary, `${JSON.stringify(record)}\n`, { mode: 0o600 });
		await rename(temporary, path);
	}

	/** A device chose its id, and file systems differ in what they take: a hash is a name everywhere. */
	#pathOf(id: string): string {
		return join(this.#folder, `${createHash("sha256").update(id).digest("hex").slice(0, 32)}${EXTENSION}`);
	}
}
