import { statSync } from "node:fs";
import { open, rename, rm, writeFile } from "node:fs/promises";
import { jsonIn } from "xs-mcp-manager/core";
import { isObject } from "../firmware.js";

/** Maximum number of lines that wait for the disk. Further ones are dropped. */
const MAX_WAITING = 5_000;

/** Milliseconds for which lines are collected. Opening, writing and closing a file for each took a sixth of the CPU of a call. */
const COLLECT_TIME = 100;

const MODE = 0o600;

/** Lines of JSON in two files. The older one is deleted when the newer one is full. Their folder must exist. */
export class JsonLines {
	readonly #paths: { readonly old: string; readonly new: string };
	readonly #maxBytes: number;
	readonly #onSaved: (error: Error | undefined, entries: readonly object[]) => void;
	readonly #collectTime: number;
	#oldBytes: number;
	#newBytes: number;
	#waiting: object[] = [];
	#timer: NodeJS.Timeout | undefined;
	/** Settles when the lines before are written. */
	#saved = Promise.resolve();
	#isClosed = false;

	/**
	 * Opens the files, with the lines that they have.
	 *
	 * @param prefix of their paths, which end in `old.jsonl` and `new.jsonl`
	 * @param maxBytes size of both files together
	 * @param onSaved called with each attempt to write, the error if it failed, and its entries, which are then lost
	 */
	constructor(
		prefix: string,
		maxBytes: number,
		onSaved: (error: Error | undefined, entries: readonly object[]) => void,
		collectTime = COLLECT_TIME,
	) {
		this.#paths = { old: `${prefix}old.jsonl`, new: `${prefix}new.jsonl` };
		this.#maxBytes = maxBytes;
		this.#onSaved = onSaved;
		this.#collectTime = collectTime;
		[this.#oldBytes, this.#newBytes] = [sizeOf(this.#paths.old), sizeOf(this.#paths.new)];
	}

	get bytes(): number {
		return this.#oldBytes + this.#newBytes;
	}

	/** Writes a line within a moment. Returns false if it is lost: they are closed, or 5,000 lines wait for the disk. */
	append(entry: object): boolean {
		if (this.#isClosed || this.#waiting.length >= MAX_WAITING) {
			return false;
		}
		this.#waiting.push(entry);
		this.#timer ??= setTimeout(() => void this.#save(), this.#collectTime);
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
	}

	/** Writes the waiting lines together. Settles when they and those before are on disk, or lost. */
	#save(): Promise<void> {
		clearTimeout(this.#timer);
		this.#timer = undefined;
		this.#saved = this.#saved.then(async () => {
			const entries = this.#waiting;
			this.#waiting = [];
			if (entries.length === 0) {
				return;
			}
			// A write that a full disk cut short leaves a partial line, so each write starts with a line feed.
			const text = `\n${entries.map((entry) => `${JSON.stringify(entry)}\n`).join("")}`;
			const bytes = Buffer.byteLength(text);
			let problem: Error | undefined;
			try {
				if (this.#newBytes > 0 && this.#newBytes + bytes > this.#maxBytes / 2) {
					await rename(this.#paths.new, this.#paths.old);
					[this.#oldBytes, this.#newBytes] = [this.#newBytes, 0];
				}
				await writeFile(this.#paths.new, text, { flag: "a", mode: MODE });
				this.#newBytes += bytes;
			} catch (error) {
				problem = error as Error;
			}
			this.#onSaved(problem, entries);
		});
		return this.#saved;
	}
}

/** Returns 0 for a missing file. */
function sizeOf(path: string): number {
	return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

async function openIfPresent(path: string) {
	return await open(path).catch((error: NodeJS.ErrnoException) => {
		if (error.code !== "ENOENT") {
			throw error;
		}
		return undefined;
	});
}
