import { type FileHandle, open, rename, rm, stat, writeFile } from "node:fs/promises";

/** Lines that may wait for the disk; further ones are dropped. */
const MAX_WAITING = 5_000;

/** Milliseconds for which lines are collected. Opening, writing and closing a file for each took a sixth of the CPU of a call. */
const COLLECT_TIME = 100;

/** Only this user can read it. */
const MODE = 0o600;

interface JsonLinesOptions {
	/** Of both files together. */
	readonly maxBytes: number;
	/** Called with each attempt to write, the error if it failed, and its entries, which are then lost. */
	readonly onSaved: (error: Error | undefined, entries: readonly object[]) => void;
	/** Whether each line is written at once. Default: after up to 100 ms. */
	readonly isUrgent?: boolean;
	/** The first line of each file, so that it can be read without the one before. */
	readonly first?: () => object;
}

/**
 * Lines of JSON in two files, whose paths are a prefix with `old.jsonl` and `new.jsonl`: the older one goes when the newer one is
 * full. Their folder must exist.
 */
export class JsonLines {
	readonly #prefix: string;
	readonly #options: JsonLinesOptions;
	#oldBytes = 0;
	#newBytes = 0;
	#waiting: object[] | undefined;
	#timer: NodeJS.Timeout | undefined;
	/** Settles when the lines before are written. */
	#saved = Promise.resolve();
	#isClosed = false;

	private constructor(prefix: string, options: JsonLinesOptions) {
		this.#prefix = prefix;
		this.#options = options;
	}

	/** Opens them, with the lines that are there. */
	static async open(prefix: string, options: JsonLinesOptions): Promise<JsonLines> {
		const lines = new JsonLines(prefix, options);
		[lines.#oldBytes, lines.#newBytes] = [await sizeOf(lines.#file("old")), await sizeOf(lines.#file("new"))];
		return lines;
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
		if (this.#isClosed || (this.#waiting?.length ?? 0) >= MAX_WAITING) {
			return false;
		}
		this.#waiting ??= [];
		this.#waiting.push(entry);
		if (this.#options.isUrgent) {
			void this.#save();
		} else {
			this.#timer ??= setTimeout(() => void this.#save(), COLLECT_TIME);
		}
		return true;
	}

	/** Every line that is an object, the oldest first. */
	async *read(): AsyncGenerator<Readonly<Record<string, unknown>>> {
		await this.#save();
		// Both are opened first: meanwhile the newer one may become the older one.
		const files = [await openIfPresent(this.#file("old")), await openIfPresent(this.#file("new"))];
		try {
			for (const file of files) {
				for await (const line of file?.readLines() ?? []) {
					const entry = parsed(line);
					if (entry !== undefined) {
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

	/** Closes them, and removes the files. */
	async remove(): Promise<void> {
		await this.close();
		await Promise.all((["old", "new"] as const).map((name) => rm(this.#file(name), { force: true })));
		[this.#oldBytes, this.#newBytes] = [0, 0];
	}

	/** Writes the lines that wait, together. Settles when they and those before are on disk, or lost. */
	#save(): Promise<void> {
		clearTimeout(this.#timer);
		this.#timer = undefined;
		this.#saved = this.#saved.then(() => this.#store());
		return this.#saved;
	}

	async #store(): Promise<void> {
		const batch = this.#waiting;
		this.#waiting = undefined;
		if (batch === undefined) {
			return;
		}
		try {
			await this.#write(batch.map((entry) => JSON.stringify(entry)));
			this.#options.onSaved(undefined, batch);
		} catch (error) {
			this.#options.onSaved(error as Error, batch);
		}
	}

	async #write(batch: readonly string[]): Promise<void> {
		const half = this.#options.maxBytes / 2;
		const bytes = batch.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 1);
		if (this.#newBytes > 0 && this.#newBytes + bytes > half) {
			await rename(this.#file("new"), this.#file("old"));
			[this.#oldBytes, this.#newBytes] = [this.#newBytes, 0];
		}
		const first = this.#newBytes === 0 ? this.#options.first?.() : undefined;
		const lines = first === undefined ? batch : [JSON.stringify(first), ...batch];
		// A write that the disk has cut short leaves a part of a line: the next one starts on a line of its own.
		const text = `\n${lines.join("\n")}\n`;
		await writeFile(this.#file("new"), text, { flag: "a", mode: MODE });
		this.#newBytes += Buffer.byteLength(text);
	}

	#file(name: "old" | "new"): string {
		return `${this.#prefix}${name}.jsonl`;
	}
}

async function sizeOf(path: string): Promise<number> {
	return (await ifPresent(stat(path)))?.size ?? 0;
}

async function openIfPresent(path: string): Promise<FileHandle | undefined> {
	return await ifPresent(open(path));
}

async function ifPresent<T>(result: Promise<T>): Promise<T | undefined> {
	return await result.catch((error: NodeJS.ErrnoException) => {
		if (error.code === "ENOENT") {
			return undefined;
		}
		throw error;
	});
}

function parsed(line: string): Readonly<Record<string, unknown>> | undefined {
	try {
		const entry: unknown = JSON.parse(line);
		return typeof entry === "object" && entry !== null ? (entry as Record<string, unknown>) : undefined;
	} catch {
		return undefined;
	}
}
