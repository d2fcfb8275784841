import { statSync } from "node:fs";
import { type FileHandle, open, rename, rm, writeFile } from "node:fs/promises";
import { jsonIn } from "xs-mcp-manager/core";
import { isObject } from "../firmware.js";

/** Lines that may wait for the disk; further ones are dropped. */
const MAX_WAITING = 5_000;

/** Milliseconds for which lines are collected. Opening, writing and closing a file for each took a sixth of the CPU of a call. */
const COLLECT_TIME = 100;

/** Only this user can read it. */
const MODE = 0o600;

interface JsonLinesOptions {
	/** Size of both files together. */
	readonly maxBytes: number;
	/** Called with each attempt to write, the error if it failed, and its entries, which are then lost. */
	readonly onSaved: (error: Error | undefined, entries: readonly object[]) => void;
	/** Whether each line is written at once. Default: after up to 100 ms. */
	readonly isUrgent?: boolean;
}

/**
 * Lines of JSON in two files, whose paths are a prefix with `old.jsonl` and `new.jsonl`. The older one is deleted when the newer one
 * is full. Their folder must exist.
 */
export class JsonLines {
	readonly #paths: { readonly old: string; readonly new: string };
	readonly #options: JsonLinesOptions;
	#oldBytes: number;
	#newBytes: number;
	#waiting: object[] = [];
	#timer: NodeJS.Timeout | undefined;
	/** Settles when the lines before are written. */
	#saved = Promise.resolve();
	#isClosed = false;

	/** Opens the files, with the lines that they have. */
	constructor(prefix: string, options: JsonLinesOptions) {
		this.#paths = { old: `${prefix}old.jsonl`, new: `${prefix}new.jsonl` };
		this.#options = options;
		this.#oldBytes = sizeOf(this.#paths.old);
		this.#newBytes = sizeOf(this.#paths.new);
	}

	/** Bytes on disk. */
	get bytes(): number {
		return this.#oldBytes + this.#newBytes;
	}

	/**
	 * Writes a line within a moment, unless they are closed or 5,000 lines wait for the disk.
	 *
	 * @returns whether it is to be written
	 */
	append(entry: object): boolean {
		if (this.#isClosed || this.#waiting.length >= MAX_WAITING) {
			return false;
		}
		this.#waiting.push(entry);
		if (this.#options.isUrgent) {
			void this.#save();
		} else {
			this.#timer ??= setTimeout(() => void this.#save(), COLLECT_TIME);
		}
		return true;
	}

	/** Reads every line that is an object, the oldest first. */
	async *read(): AsyncGenerator<Readonly<Record<string, unknown>>> {
		await this.#save();
		// Both are opened first: meanwhile the newer one may become the older one.
		const files = [await openIfPresent(this.#paths.old), await openIfPresent(this.#paths.new)];
		try {
			for (const file of files) {
				for await (const line of file?.readLines() ?? []) {
					const entry = jsonIn(line);
					if (isObject(entry)) {
						yield entry;
					}
				}
			}
		} finally {
			// A file that was read to its end is already closed.
			await Promise.all(files.map((file) => file?.close().catch(() => {})));
		}
	}

	/** Settles when everything is written. */
	async close(): Promise<void> {
		this.#isClosed = true;
		await this.#save();
	}

	/** Closes and deletes the files. */
	async remove(): Promise<void> {
		await this.close();
		await Promise.all(Object.values(this.#paths).map((path) => rm(path, { force: true })));
		[this.#oldBytes, this.#newBytes] = [0, 0];
	}

	/** Writes the waiting lines together. Settles when they and those before are on disk, or lost. */
	#save(): Promise<void> {
		clearTimeout(this.#timer);
		this.#timer = undefined;
		this.#saved = this.#saved.then(async () => {
			const batch = this.#waiting;
			this.#waiting = [];
			if (batch.length > 0) {
				const error = await this.#write(batch).catch((failure: Error) => failure);
				this.#options.onSaved(error, batch);
			}
		});
		return this.#saved;
	}

	async #write(batch: readonly object[]): Promise<undefined> {
		// A write that the disk has cut short leaves a part of a line: the next one starts on a line of its own.
		const text = `\n${batch.map((entry) => `${JSON.stringify(entry)}\n`).join("")}`;
		const bytes = Buffer.byteLength(text);
		if (this.#newBytes > 0 && this.#newBytes + bytes > this.#options.maxBytes / 2) {
			await rename(this.#paths.new, this.#paths.old);
			[this.#oldBytes, this.#newBytes] = [this.#newBytes, 0];
		}
		await writeFile(this.#paths.new, text, { flag: "a", mode: MODE });
		this.#newBytes += bytes;
	}
}

/** Returns 0 for a file that is missing or cannot be read: the next attempt to write reports why. */
function sizeOf(path: string): number {
	try {
		return statSync(path).size;
	} catch {
		return 0;
	}
}

async function openIfPresent(path: string): Promise<FileHandle | undefined> {
	return await open(path).catch((error: NodeJS.ErrnoException) => {
		if (error.code !== "ENOENT") {
			throw error;
		}
		return undefined;
	});
}
