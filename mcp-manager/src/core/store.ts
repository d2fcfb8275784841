import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import pLimit from "p-limit";
import * as z from "zod";
import { describeIssues } from "./issues.js";
import type { Offers } from "./offers.js";
import type { ServerRecord } from "./server.js";

const EXTENSION = ".json";

/** The last millisecond that a Date can hold. */
const MAX_DATE = 8.64e15;

/** The schema of a file. Files of earlier versions have only the tools. */
const RECORD = z.object({
	id: z.string(),
	alias: z.string(),
	tags: z.array(z.string()).optional(),
	board: z.object({ name: z.string(), version: z.string() }),
	tools: z.array(z.looseObject({ name: z.string(), inputSchema: z.looseObject({ type: z.literal("object") }) })),
	resources: z.array(z.looseObject({ uri: z.string(), name: z.string() })).default([]),
	resourceTemplates: z.array(z.looseObject({ uriTemplate: z.string(), name: z.string() })).default([]),
	prompts: z.array(z.looseObject({ name: z.string() })).default([]),
	lastSeen: z.number().min(0).max(MAX_DATE),
});

/** A pending change to a record. `record` is undefined to remove it. */
interface Pending {
	record: ServerRecord | undefined;
	readonly written: Promise<void>;
}

/**
 * Keeps server records on disk, each in a file of its own, so that a server that changes costs one small file
 * regardless of their number. Files are replaced atomically, so that a crash leaves the old or the new one.
 */
export class ServerStore {
	readonly #folder: string;
	readonly #warn: (message: string) => void;
	readonly #onSaved: (error?: Error) => void;
	/** By server id, in the order in which they are written. */
	readonly #pending = new Map<string, Pending>();
	readonly #writes = pLimit(1);
	/** Lists as JSON: thousands of devices of a kind have the same. */
	readonly #texts = new WeakMap<Offers, string>();

	/**
	 * @param warn called for files that could not be read or written
	 * @param onSaved called whenever a record was written or removed, or why it could not be
	 */
	constructor(folder: string, warn: (message: string) => void, onSaved: (error?: Error) => void = () => {}) {
		this.#folder = folder;
		this.#warn = warn;
		this.#onSaved = onSaved;
	}

	/** Reads all records. A damaged file is set aside, with a warning. Rejects when the folder cannot be made or read. */
	async load(): Promise<ServerRecord[]> {
		await mkdir(this.#folder, { recursive: true, mode: 0o700 });
		const records: ServerRecord[] = [];
		for (const name of await readdir(this.#folder)) {
			const record = name.endsWith(EXTENSION) ? await this.#read(join(this.#folder, name)) : undefined;
			if (record !== undefined) {
				records.push(record);
			}
		}
		return records;
	}

	/** Writes a record soon. Settles when that is done; rejects, after a warning, if it could not be done. */
	save(record: ServerRecord): Promise<void> {
		return this.#schedule(record.id, record);
	}

	/** Removes a record soon. Settles as {@link save} does. */
	remove(id: string): Promise<void> {
		return this.#schedule(id, undefined);
	}

	/** Settles when everything is written. */
	async flush(): Promise<void> {
		// The last of the queue.
		await this.#writes(() => {});
	}

	async #read(path: string): Promise<ServerRecord | undefined> {
		try {
			return parseRecord(await readFile(path, "utf8"));
		} catch (error) {
			await rename(path, `${path}.damaged`);
			this.#warn(`${path}: ${(error as Error).message}; set aside as ${path}.damaged`);
			return undefined;
		}
	}

	#schedule(id: string, record: ServerRecord | undefined): Promise<void> {
		const waiting = this.#pending.get(id);
		if (waiting !== undefined) {
			waiting.record = record;
			return waiting.written;
		}
		const written = this.#writes(async () => {
			// Changes to a server in the same turn are written once.
			await new Promise((resolve) => setImmediate(resolve));
			this.#pending.delete(id);
			await this.#write(id, pending.record);
		});
		const pending: Pending = { record, written };
		this.#pending.set(id, pending);
		written.then(
			() => this.#onSaved(),
			(error: Error) => {
				this.#warn(`${id}: cannot save: ${error.message}`);
				this.#onSaved(error);
			},
		);
		return written;
	}

	async #write(id: string, record: ServerRecord | undefined): Promise<void> {
		// Devices choose their ids, and file systems differ in the names that they allow: a hash works everywhere.
		const name = createHash("sha256").update(id).digest("hex").slice(0, 32);
		const path = join(this.#folder, `${name}${EXTENSION}`);
		if (record === undefined) {
			await rm(path, { force: true });
			return;
		}
		// Not flushed to the medium: what was written survives the end of the process, and after a power cut a file is old or new.
		// Flushing thousands of files when the gateway stops would take minutes on an SD card. Not write-file-atomic: it makes a
		// dozen calls of the file system for each, which is much when thousands of devices connect.
		await writeFile(`${path}.new`, this.#textOf(record), { mode: 0o600 });
		await rename(`${path}.new`, path);
	}

	/** One object: its own members, and those of the lists. */
	#textOf({ offers, ...rest }: ServerRecord): string {
		const lists = this.#texts.get(offers) ?? JSON.stringify(offers).slice(1);
		this.#texts.set(offers, lists);
		return `${JSON.stringify(rest).slice(0, -1)},${lists}\n`;
	}
}

/** @throws Error that names the member that is not valid */
function parseRecord(text: string): ServerRecord {
	const { data, error } = RECORD.safeParse(JSON.parse(text));
	if (error !== undefined) {
		throw new Error(`not a server record: ${describeIssues(error.issues, "content")}`);
	}
	const { tools, resources, resourceTemplates, prompts, tags, ...rest } = data;
	return { ...rest, ...(tags && { tags }), offers: { tools, resources, resourceTemplates, prompts } as Offers };
}
