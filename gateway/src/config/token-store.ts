import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import pLimit from "p-limit";
import { deviceIdOf } from "./device-id.js";
import { digest } from "./digest.js";
import { withLock } from "./file-lock.js";
import { SaveState } from "./save-state.js";
import {
	readKinds,
	readTokens,
	TOKEN_KINDS,
	type TokenChange,
	TokenError,
	type TokenGrant,
	TokenIndex,
	type TokenKind,
	type TokenRecord,
	type TokenShare,
	versionOf,
	writeKinds,
	writeTokens,
} from "./token-file.js";

export { TokenError, type TokenKind, type TokenRecord, tokenKindSchema, tokenRecordSchema } from "./token-file.js";

const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;

/** Most clients that have signed in. */
const MAX_GRANTS = 200;

/** The record of a client that has signed in. */
type GrantRecord = TokenRecord & { readonly grant: TokenGrant };

/** The name of clients without a token. Reserved. */
export const NO_TOKEN_NAME = "local";

/** Identifies tokens for people and secret scanners. */
export const TOKEN_PREFIX = "xsmcp_";

/** Attempts at a change while other processes or gateways change the same tokens. */
const MAX_ATTEMPTS = 5;

/** The tokens of clients and devices, in a file that several processes may change. */
export class TokenStore {
	readonly #path: string;
	/** Records that there were tokens, in case the last one is removed or the file deleted. */
	readonly #kindsPath: string;
	readonly #onDamaged: (error: Error) => void;
	readonly #saves: SaveState;
	#index = new TokenIndex([]);
	/** Hashes. */
	#removed: ReadonlySet<string> = new Set();
	/** Of the content that was read or written last; undefined before the first time. */
	#version: string | undefined;
	/** Kinds that have or had a token. */
	#needed: ReadonlySet<TokenKind> = new Set();
	/** Changes by this process, one after the other. */
	readonly #changes = pLimit(1);
	/** The error that was reported last. */
	#reported = "";
	/** Undefined: the tokens are in this file only. */
	#share: TokenShare | undefined;

	/**
	 * @param folder the gateway's state folder; a missing file is a store without tokens
	 * @param onDamaged called once if the file becomes unreadable later; the tokens stay as they were
	 * @param saves is told of each write
	 * @throws TokenError if the file is damaged at the start
	 */
	constructor(folder: string, onDamaged: (error: Error) => void = () => {}, saves = new SaveState()) {
		this.#saves = saves;
		this.#path = join(folder, "tokens.json");
		this.#kindsPath = join(folder, "tokens-needed.json");
		this.#onDamaged = onDamaged;
		this.#reload();
	}

	/** Every token, in the order in which they were made. */
	get records(): readonly TokenRecord[] {
		return this.#index.records;
	}

	/** Whether the file exists. */
	get isStored(): boolean {
		return existsSync(this.#path);
	}

	/** The hashes of tokens that were removed, here or in a store that shares them. A file that was lost has removed nothing. */
	get removed(): ReadonlySet<string> {
		return this.#removed;
	}

	/** The time by which tokens expire, in milliseconds since 1970: the same for all stores that are shared. */
	get now(): number {
		return this.#share?.now ?? Date.now();
	}

	/** Whether there is a token of that kind now. */
	has(kind: TokenKind): boolean {
		this.refresh();
		return this.#index.kinds.has(kind);
	}

	/** Whether clients or devices need a token: there is one, or there was one and {@link open} was not called since. */
	needs(kind: TokenKind): boolean {
		this.refresh();
		return this.#needed.has(kind) || this.#index.kinds.has(kind);
	}

	/** Allows kinds without a token again, though they had one. Stored on disk. */
	async open(): Promise<void> {
		await this.#locked(async () => {
			const kinds = TOKEN_KINDS.filter((kind) => this.#index.kinds.has(kind));
			await writeKinds(this.#kindsPath, kinds);
			this.#needed = new Set(kinds);
		});
	}

	/** Has other stores follow every change from now on; undefined: no longer. */
	share(share: TokenShare | undefined): void {
		this.#share = share;
	}

	/** Stores what has been changed in other stores. */
	async adopt(change: (records: readonly TokenRecord[]) => TokenChange): Promise<void> {
		await this.#untilDone(() => this.#locked((version) => this.#write(change(this.records), version)));
	}

	/** The record of a token, or undefined. As of now: one that another process removed is not found. */
	verify(kind: TokenKind, secret: string): TokenRecord | undefined {
		this.refresh();
		const record = this.#index.byHash.get(digest(secret));
		// The hash in the record of a signed-in client is an id, not a token's.
		return record?.kind === kind && record.grant === undefined ? this.#ifValid(record) : undefined;
	}

	/** The record of a token that was verified before; undefined if it was removed or has expired. */
	current(sha256: string): TokenRecord | undefined {
		return this.#ifValid(this.#index.byHash.get(sha256));
	}

	/** The record of a client that has signed in, by its access token. As of now. */
	ofAccess(secret: string): TokenRecord | undefined {
		this.refresh();
		return this.#ifValid(this.#index.byAccess.get(digest(secret)));
	}

	/**
	 * Creates a token and returns it. It cannot be read again.
	 *
	 * Rejects with TokenError if its name cannot be used, as all changes do if the file cannot be read.
	 */
	async add(token: Omit<TokenRecord, "sha256" | "created">): Promise<string> {
		if (!NAME.test(token.name)) {
			throw new TokenError(
				`name: expected up to 64 letters, digits, "_", "." and "-", got ${JSON.stringify(token.name)}`,
			);
		}
		const secret = TOKEN_PREFIX + randomBytes(32).toString("base64url");
		const created = new Date().toISOString();
		const devices = token.devices && { devices: token.devices.map(deviceIdOf) };
		await this.#change((records) => {
			if (token.name === NO_TOKEN_NAME || records.some(({ name }) => name === token.name)) {
				throw new TokenError(`token ${token.name} already exists`);
			}
			return [...records, { ...token, ...devices, created, sha256: digest(secret) }];
		});
		return secret;
	}

	/** The token that {@link bind} has stored for a device, as of now. */
	boundTo(deviceId: string): TokenRecord | undefined {
		this.refresh();
		return this.#index.byName.get(boundName(deviceId));
	}

	/**
	 * Stores a token that the gateway has made for one device.
	 *
	 * @param replaces whether it replaces an existing token of the device
	 * @returns whether it is stored
	 */
	async bind(deviceId: string, secret: string, salt: string, { replaces = false } = {}): Promise<boolean> {
		const name = boundName(deviceId);
		const created = new Date().toISOString();
		const sha256 = digest(secret);
		let stored = false;
		await this.#change((records) => {
			const rest = records.filter((record) => record.name !== name);
			stored = replaces || rest.length === records.length;
			return stored ? [...rest, { name, kind: "device", created, devices: [deviceId], salt, sha256 }] : records;
		});
		return stored;
	}

	/**
	 * Stores the record of a client that has signed in. Sign-ins that have expired make room.
	 *
	 * Rejects with TokenError if there are too many.
	 */
	async addGrant(grant: Omit<GrantRecord, "kind" | "created">): Promise<void> {
		await this.#change((records) => {
			const rest = records.filter((record) => record.grant === undefined || isValid(record, this.now));
			if (rest.filter((record) => record.grant !== undefined).length >= MAX_GRANTS) {
				throw new TokenError(`too many clients have signed in (limit ${MAX_GRANTS}): remove some`);
			}
			return [...rest, { kind: "client", created: new Date().toISOString(), ...grant }];
		});
	}

	/**
	 * Changes the record of a client that has signed in, as it is now.
	 *
	 * @param change returns the new record, or undefined to remove it; not called if the record has been removed or expired,
	 * called again if another gateway has changed the record meanwhile
	 */
	async changeGrant(sha256: string, change: (record: GrantRecord) => TokenRecord | undefined): Promise<void> {
		await this.#change((records) => {
			const record = this.current(sha256);
			if (record?.grant === undefined) {
				return records;
			}
			const changed = change(record as GrantRecord);
			return changed === record ? records : records.flatMap((each) => (each === record ? (changed ?? []) : each));
		});
	}

	/** Removes the record of a client that has signed in, also one that another gateway is about to store. */
	async endGrant(sha256: string): Promise<void> {
		await this.changeGrant(sha256, () => undefined);
		await this.#share?.forbid(sha256, "client");
	}

	/** Removes a token: it is rejected from now on. */
	async remove(name: string): Promise<void> {
		await this.#change((records) => {
			const rest = records.filter((record) => record.name !== name);
			if (rest.length === records.length) {
				throw new TokenError(`unknown token ${name}`);
			}
			return rest;
		});
	}

	/** Reads the file again if it has changed, or could not be read before. Returns whether the tokens have changed. */
	refresh(): boolean {
		try {
			const changed = this.#reload();
			this.#reported = "";
			return changed;
		} catch (error) {
			const { message } = error as Error;
			if (message !== this.#reported) {
				this.#reported = message;
				this.#onDamaged(error as Error);
			}
			return false;
		}
	}

	#reload(): boolean {
		// Read before the content: if the file changes in between, it is read again next time.
		const version = versionOf(this.#path);
		if (version === this.#version) {
			return false;
		}
		const { tokens, removed } = readTokens(this.#path);
		const index = new TokenIndex(tokens);
		this.#needed = new Set([...this.#needed, ...readKinds(this.#kindsPath), ...index.kinds]);
		this.#take(index, new Set(removed), version);
		return true;
	}

	#take(index: TokenIndex, removed: ReadonlySet<string>, version: string): void {
		this.#index = index;
		this.#removed = removed;
		this.#version = version;
		this.#share?.changed();
	}

	#ifValid(record: TokenRecord | undefined): TokenRecord | undefined {
		return record !== undefined && isValid(record, this.now) ? record : undefined;
	}

	/** Changes the newest records, here and in the other stores. */
	async #change(change: (records: readonly TokenRecord[]) => readonly TokenRecord[]): Promise<void> {
		await this.#untilDone(async () => {
			const isDone = await this.#locked(async (version) => {
				const before = this.records;
				const after = change(before);
				const isCommitted = after === before || (await this.#share?.commit(before, after)) !== false;
				return isCommitted && (await this.#write({ records: after }, version));
			});
			await this.#share?.catchUp();
			return isDone;
		});
	}

	/** Runs a change again until it is made. Rejects with TokenError after {@link MAX_ATTEMPTS}. */
	async #untilDone(run: () => Promise<boolean>): Promise<void> {
		for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
			if (await run()) {
				return;
			}
		}
		throw new TokenError("other processes change the same token: try again");
	}

	/**
	 * Writes records and the hashes of removed ones, in one file, unless it has them, and that their kinds need a token.
	 *
	 * @param version of the file that was read
	 * @returns false if another process has changed the file: it took over the lock, because this one did not run for a while
	 */
	async #write({ records, needed: more = [], removed: others = [] }: TokenChange, version?: string): Promise<boolean> {
		const hashes = new Set(records.map(({ sha256 }) => sha256));
		const gone = this.records.flatMap(({ sha256 }) => (hashes.has(sha256) ? [] : sha256));
		const removed = new Set([...this.#removed, ...others, ...gone]);
		if (records !== this.records || removed.size > this.#removed.size) {
			const written = await this.#saves.watch(writeTokens(this.#path, records, [...removed], version));
			if (written === undefined) {
				return false;
			}
			this.#take(new TokenIndex(records), removed, written);
		}
		const needed = new Set([...this.#needed, ...more, ...this.#index.kinds]);
		if (needed.size > readKinds(this.#kindsPath).length) {
			await this.#saves.watch(writeKinds(this.#kindsPath, needed));
			this.#needed = needed;
		}
		return true;
	}

	/** Runs under a lock, on the file's newest content. */
	async #locked<T>(run: (version: string | undefined) => Promise<T>): Promise<T> {
		return await this.#changes(() =>
			withLock(this.#path, async () => {
				this.#reload();
				const result = await run(this.#version);
				this.#reload();
				return result;
			}),
		);
	}
}

/** No name that an operator chooses has a colon. */
function boundName(deviceId: string): string {
	return `device:${deviceId}`;
}

function isValid({ expires }: TokenRecord, now: number): boolean {
	return expires === undefined || Date.parse(expires) > now;
}
