import { statSync } from "node:fs";
import { open, rename, rm, writeFile } from "node:fs/promises";
import { isObject } from "xs-mcp-firmware/core/text/json";
import { jsonIn } from "xs-mcp-manager/core";

/** Maximum number of lines that wait for the disk. Further ones are dropped. */
const MAX_WAITING = 5_000;

/** Milliseconds for which lines are collected. Opening, writing and closing a file for each took a sixth of the CPU of a call. */
const COLLECT_TIME = 100;

const MODE = 0o600;

export type JsonLines = ReturnType<typeof openJsonLines>;

/**
 * Opens lines of JSON in two files, and keeps the earlier ones. The older one is deleted when the newer one is full. Their folder
 * must exist.
 *
 * @param prefix of their paths, which end in `old.jsonl` and `new.jsonl`
 * @param maxBytes size of both files together
 * @param onSaved called with each attempt to write, the error if it failed, and its entries, which are then lost
 */
export function openJsonLines(
	prefix: string,
	maxBytes: number,
	onSaved: (error: Error | undefined, entries: readonly object[]) => void,
	collectTime = COLLECT_TIME,
) {
	const paths = { old: `${prefix}old.jsonl`, new: `${prefix}new.jsonl` };
	let [oldBytes, newBytes] = [sizeOf(paths.old), sizeOf(paths.new)] as const;
	let waiting: object[] = [];
	let timer: NodeJS.Timeout | undefined;
	/** Settles when the lines before are written. */
	let saved = Promise.resolve();
	let isClosed = false;

	/** Writes the waiting lines together. Settles when they and those before are on disk, or lost. */
	const save = (): Promise<void> => {
		clearTimeout(timer);
		timer = undefined;
		saved = saved.then(async () => {
			const entries = waiting;
			waiting = [];
			if (entries.length === 0) {
				return;
			}
			let problem: Error | undefined;
			try {
				// A write that a full disk cut short leaves a partial line, so each write starts with a line feed.
				const text = `\n${entries.map((entry) => `${JSON.stringify(entry)}\n`).join("")}`;
				const bytes = Buffer.byteLength(text);
				if (newBytes > 0 && newBytes + bytes > maxBytes / 2) {
					await rename(paths.new, paths.old);
					[oldBytes, newBytes] = [newBytes, 0];
				}
				await writeFile(paths.new, text, { flag: "a", mode: MODE });
				newBytes += bytes;
			} catch (error) {
				problem = error as Error;
			}
			onSaved(problem, entries);
		});
		return saved;
	};

	/** Settles when everything is written. */
	const close = async (): Promise<void> => {
		isClosed = true;
		await save();
	};

	return {
		close,
		get bytes(): number {
			return oldBytes + newBytes;
		},
		/** Writes a line within a moment. Returns false if it is lost: they are closed, or 5,000 lines wait for the disk. */
		append(entry: object): boolean {
			if (isClosed || waiting.length >= MAX_WAITING) {
				return false;
			}
			waiting.push(entry);
			timer ??= setTimeout(() => void save(), collectTime);
			return true;
		},
		/** Reads every line that is an object, the oldest first. */
		async *read(): AsyncGenerator<Readonly<Record<string, unknown>>> {
			await save();
			// Both are opened first: meanwhile the newer one may become the older one.
			const files = [await openIfPresent(paths.old), await openIfPresent(paths.new)];
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
		},
		/** Closes and deletes the files. */
		async remove(): Promise<void> {
			await close();
			await Promise.all(Object.values(paths).map((path) => rm(path, { force: true })));
		},
	};
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
