import { addAbortListener } from "node:events";
import { readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { KV } from "@nats-io/kv";
import pLimit from "p-limit";
import * as z from "zod";
import type { TokenChange, TokenShare } from "../config/token-file.js";
import {
	TokenError,
	type TokenKind,
	type TokenRecord,
	type TokenStore,
	tokenRecordSchema,
} from "../config/token-store.js";
import { ifCurrent, reached } from "./bus.js";
import { readMessage, type TokenEntry, tokenEntrySchema, VERSION } from "./messages.js";
import type { SharedClock } from "./shared-clock.js";

interface SharedTokensOptions {
	readonly tokens: TokenStore;
	/** The gateway's state folder. */
	readonly folder: string;
	readonly clock: SharedClock;
	readonly warn: (message: string) => void;
}

/** The last known content of the bucket. */
type Known = Pick<TokenEntry, "record" | "removed"> & { readonly revision: number };

/** Version 0.2 has kept the hashes of all tokens that its file ever had. */
const seenFile = z.object({ version: z.literal(1), hashes: z.array(z.string()) });

/**
 * The tokens of the cluster. Each gateway keeps all of them in its own file, which commands change as they do without a cluster,
 * and which is enough while NATS is away. The file also has the hashes of removed ones, which never return: so copies of any age
 * can be merged.
 */
export class SharedTokens implements TokenShare {
	readonly #options: SharedTokensOptions;
	/** Of a file of version 0.2. */
	readonly #path: string;
	/** By hash. */
	readonly #known = new Map<string, Known>();
	#bucket: KV | undefined;
	#isDirty = false;
	#warned = "";
	readonly #turns = pLimit(1);

	constructor(options: SharedTokensOptions) {
		this.#options = options;
		this.#path = join(options.folder, "tokens-shared.json");
		options.tokens.share(this);
	}

	get now(): number {
		return this.#options.clock.now;
	}

	/** Settles when the file and the bucket have the same tokens. Rejects if the connection is lost meanwhile. */
	async enter(bucket: KV, connection: AbortSignal): Promise<void> {
		this.#bucket = undefined;
		const entries = await bucket.history();
		addAbortListener(connection, () => entries.stop());
		connection.throwIfAborted();
		this.#known.clear();
		for await (const { key, value, revision, operation } of entries) {
			this.#learn(key, operation === "PUT" ? value : undefined, revision);
		}
		connection.throwIfAborted();
		await this.#migrate();
		this.#bucket = bucket;
		this.#isDirty = true;
		await this.flush();
	}

	/** The bucket cannot be reached: tokens are added and removed here, and shared later. */
	leave(): void {
		this.#bucket = undefined;
	}

	/** Settles when what this gateway wrote has arrived. No change is shared from then on. */
	async close(): Promise<void> {
		await this.flush();
		this.#options.tokens.share(undefined);
	}

	/** Reads an entry of the bucket. */
	received(hash: string, value: Uint8Array | undefined, revision: number): void {
		if (this.#learn(hash, value, revision)) {
			this.changed();
		}
	}

	changed(): void {
		this.#isDirty = true;
		void this.flush();
	}

	async catchUp(): Promise<void> {
		this.#isDirty = true;
		await this.flush();
	}

	/** Shares changes, if it can. Never rejects. */
	async flush(): Promise<void> {
		await this.#turns(async () => {
			const bucket = this.#bucket;
			if (!this.#isDirty || bucket === undefined) {
				return;
			}
			this.#isDirty = false;
			try {
				await this.#reconcile(bucket);
				this.#warned = "";
			} catch (error) {
				const { message } = error as Error;
				this.#isDirty = true;
				if (message !== this.#warned) {
					this.#warned = message;
					this.#options.warn(`cluster: tokens are not shared now: ${message}`);
				}
			}
		});
	}

	async commit(before: readonly TokenRecord[], after: readonly TokenRecord[]): Promise<boolean> {
		const old = new Map(before.map((record) => [record.sha256, record]));
		try {
			for (const to of after) {
				const from = old.get(to.sha256) ?? to;
				if (from === to) {
					continue;
				}
				const known = this.#known.get(to.sha256);
				// The file may not have records yet that were read from the bucket.
				const isOld = known !== undefined && !isSame(known.record, from);
				// Not without a connection: a token rotated at two gateways would have two successors.
				const bucket = reached(this.#bucket);
				if (isOld || !(await this.#put(bucket, to))) {
					return false;
				}
			}
		} catch (error) {
			throw new TokenError(`the cluster cannot be reached: ${(error as Error).message}`, { cause: error });
		}
		return true;
	}

	async forbid(sha256: string, kind: TokenKind): Promise<void> {
		try {
			if (this.#bucket !== undefined) {
				await this.#remove(this.#bucket, { sha256, kind });
			}
		} catch (error) {
			throw new TokenError(`the cluster cannot be reached: ${(error as Error).message}`, { cause: error });
		}
		// The record may have come from another gateway in the meantime.
		await this.catchUp();
	}

	/** Brings the bucket in line with the file, then the file with the bucket. */
	async #reconcile(bucket: KV): Promise<void> {
		const { tokens } = this.#options;
		tokens.refresh();
		for (const { record } of [...this.#known.values()]) {
			if (record !== undefined && tokens.removed.has(record.sha256)) {
				await this.#remove(bucket, record);
			}
		}
		for (const record of tokens.records) {
			if (!this.#known.has(record.sha256)) {
				await this.#put(bucket, record);
			}
		}
		await tokens.adopt((records) => this.#merge(records));
	}

	/** To be called under the lock of the file: nothing is committed meanwhile. */
	#merge(records: readonly TokenRecord[]): TokenChange {
		const { removed } = this.#options.tokens;
		const here = new Set(records.map(({ sha256 }) => sha256));
		const known = [...this.#known].filter(([hash]) => !removed.has(hash));
		const added = known.flatMap(([hash, { record }]) => (record === undefined || here.has(hash) ? [] : record));
		const kept = records.flatMap((record) => {
			const other = this.#known.get(record.sha256);
			return other === undefined || isSame(other.record, record) ? record : (other.record ?? []);
		});
		const isUnchanged =
			added.length === 0 && kept.length === records.length && kept.every((each, i) => each === records[i]);
		const gone = known.filter(([, other]) => other.removed !== undefined);
		return {
			records: isUnchanged ? records : [...kept, ...added],
			needed: gone.flatMap(([, other]) => other.removed ?? []),
			removed: gone.map(([hash]) => hash),
		};
	}

	/** A token that is no longer in the file was removed at this gateway. */
	async #migrate(): Promise<void> {
		const { tokens } = this.#options;
		const seen = readSeen(this.#path);
		if (seen !== undefined) {
			await tokens.adopt((records) => {
				const here = new Set(records.map(({ sha256 }) => sha256));
				// A file that was lost has removed nothing.
				return { records, removed: tokens.isStored ? seen.filter((hash) => !here.has(hash)) : [] };
			});
			await rm(this.#path, { force: true });
		}
	}

	/** Writes a record. Resolves with false if the entry is not the one that was read last. */
	async #put(bucket: KV, record: TokenRecord): Promise<boolean> {
		const { sha256 } = record;
		const entry: TokenEntry = { v: VERSION, record: tokenRecordSchema.parse(record) };
		const known = this.#known.get(sha256);
		if (known?.removed !== undefined) {
			return false;
		}
		const text = JSON.stringify(entry);
		const revision = await ifCurrent(
			known === undefined ? bucket.create(sha256, text) : bucket.update(sha256, text, known.revision),
		);
		if (revision !== undefined) {
			this.#adopt(sha256, { record: entry.record, revision });
			return true;
		}
		const found = await bucket.get(sha256);
		if (found !== null) {
			this.#learn(sha256, found.operation === "PUT" ? found.value : undefined, found.revision);
		}
		return false;
	}

	async #remove(bucket: KV, { sha256, kind }: Pick<TokenRecord, "sha256" | "kind">): Promise<void> {
		const entry: TokenEntry = { v: VERSION, removed: kind };
		this.#adopt(sha256, { removed: kind, revision: await bucket.put(sha256, JSON.stringify(entry)) });
	}

	/** Returns whether it was new. */
	#learn(hash: string, value: Uint8Array | undefined, revision: number): boolean {
		const entry = value && readMessage(tokenEntrySchema, value);
		const isRecord = entry?.record === undefined ? entry?.removed !== undefined : entry.record.sha256 === hash;
		return isRecord && this.#adopt(hash, { record: entry?.record, removed: entry?.removed, revision });
	}

	/** The newest wins: what was written here may be confirmed after others have replaced it. Returns whether it was new. */
	#adopt(hash: string, entry: Known): boolean {
		const isNew = (this.#known.get(hash)?.revision ?? 0) < entry.revision;
		if (isNew) {
			this.#known.set(hash, entry);
		}
		return isNew;
	}
}

/** Only the tokens of a sign-in change. */
function isSame(known: TokenRecord | undefined, record: TokenRecord): boolean {
	return known !== undefined && (record.grant === undefined || textOf(known) === textOf(record));
}

function textOf(record: TokenRecord): string {
	return JSON.stringify(tokenRecordSchema.parse(record));
}

/** Undefined if the file is missing or damaged. */
function readSeen(path: string): readonly string[] | undefined {
	try {
		return seenFile.parse(JSON.parse(readFileSync(path, "utf8"))).hashes;
	} catch {
		return undefined;
	}
}
