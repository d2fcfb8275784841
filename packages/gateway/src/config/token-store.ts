import { randomBytes, randomInt } from "node:crypto";
import { digest, type Entry, isMade, type Store } from "xs-mcp-manager/core";
import * as z from "zod";
import { GatewayError } from "../gateway-error.js";
import {
	deviceIdOf,
	includesRights,
	NO_TOKEN_NAME,
	type SignInRecord,
	TOKEN_KINDS,
	type TokenKind,
	type TokenRecord,
	tokenKey,
	tokenRecordSchema,
} from "./access.js";

const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;

/** Identifies tokens for people and secret scanners. */
export const TOKEN_PREFIX = "xsmcp_";

/** Most clients that have signed in. */
const MAX_SIGN_INS = 200;

/** Milliseconds between writes of a token's last use: it is used with every request. */
const USE_INTERVAL = 60_000;

/** A token, as an operator makes or edits it. */
type TokenRights = Omit<TokenRecord, "sha256" | "created" | "grant" | "salt">;

/** The tokens of clients and devices, the sign-ins of clients, and when they were last used. */
export class TokenStore {
	readonly #store: Store;
	readonly #records = new Map<string, TokenRecord>();
	/** Records by the hash of the token, or of the sign-in's id. */
	readonly #hashes = new Map<string, TokenRecord>();
	/** When a use was reported, by the token's name. */
	readonly #uses = new Map<string, number>();
	/** Whether the records were read in this turn of the event loop: once is enough for all requests that it serves. */
	#isCurrent = false;
	/** Kinds that have needed a token since the start: a store that has lost everything must not let strangers in. */
	readonly #needed = new Set<TokenKind>();

	constructor(store: Store) {
		this.#store = store;
		for (const prefix of ["token/", "sign-in/"]) {
			for (const entry of store.list(prefix)) {
				this.#learn(entry.key, entry);
			}
			store.watch(prefix, (key, entry) => this.#learn(key, entry));
		}
		for (const kind of TOKEN_KINDS) {
			this.needs(kind);
		}
	}

	/** Every token and sign-in, in the order in which they were made. */
	get records(): readonly TokenRecord[] {
		return [...this.#records.values()].sort((one, other) => (one.created < other.created ? -1 : 1));
	}

	get size(): number {
		return this.#records.size;
	}

	/** The time by which tokens expire, in milliseconds since 1970. */
	get now(): number {
		return this.#store.now;
	}

	has(kind: TokenKind): boolean {
		this.refresh();
		return [...this.#records.values()].some((record) => record.kind === kind);
	}

	/** Whether clients or devices need a token: there is one, or there was one and {@link open} was not called since. */
	needs(kind: TokenKind): boolean {
		if (!this.#needed.has(kind)) {
			this.refresh();
			this.#store.refresh("needed/");
			if (this.#store.get(`needed/${kind}`) !== undefined) {
				this.#needed.add(kind);
			}
		}
		return this.#needed.has(kind);
	}

	/** Allows kinds without a token again, though they had one. */
	async open(): Promise<void> {
		for (const kind of TOKEN_KINDS.filter((each) => !this.has(each))) {
			await this.#store.update(`needed/${kind}`, () => null);
			this.#needed.delete(kind);
		}
	}

	/** Reads what another process has changed. */
	refresh(): void {
		this.#store.refresh("token/");
		this.#store.refresh("sign-in/");
	}

	/** Settles when the tokens are those of now at every gateway. Rejects with StoreError. */
	async sync(): Promise<void> {
		await this.#store.sync();
	}

	/** The record of a token; undefined if it is unknown, has expired, or was removed, even just now by another process. */
	verify(kind: TokenKind, secret: string): TokenRecord | undefined {
		if (!this.#isCurrent) {
			this.#store.refresh("token/");
			this.#isCurrent = true;
			setImmediate(() => {
				this.#isCurrent = false;
			});
		}
		const record = this.current(digest(secret));
		// The hash in the record of a sign-in is an id's, not a token's.
		return record?.kind === kind && record.grant === undefined ? record : undefined;
	}

	/** The record of a token or sign-in that was verified before, as it is now; undefined if it was removed or has expired. */
	current(sha256: string): TokenRecord | undefined {
		const record = this.#hashes.get(sha256);
		return record?.expires === undefined || Date.parse(record.expires) > this.#store.now ? record : undefined;
	}

	/** The sign-in with an id, as of now; undefined if it has ended. */
	signIn(id: string): SignInRecord | undefined {
		this.refresh();
		const record = this.current(digest(id));
		return record?.grant && (record as SignInRecord);
	}

	/** The token that {@link bind} has stored for a device, as of now. */
	boundTo(deviceId: string): TokenRecord | undefined {
		this.refresh();
		return this.#records.get(`token/${boundName(deviceId)}`);
	}

	/** Creates a token and returns it. Rejects with GatewayError if its name cannot be used, and with StoreError, as all changes do. */
	async add(token: TokenRights): Promise<string> {
		const { name } = token;
		if (!NAME.test(name)) {
			throw new GatewayError(
				"malformed",
				`name: expected up to 64 letters, digits, "_", "." and "-", got ${JSON.stringify(name)}`,
			);
		}
		const secret = TOKEN_PREFIX + randomBytes(32).toString("base64url");
		const record = recordOf(token, { created: this.#today, sha256: digest(secret) });
		if (name === NO_TOKEN_NAME || !(await this.#create(record))) {
			throw new GatewayError("malformed", `token ${name} already exists`);
		}
		return secret;
	}

	/** The revision of a record, for {@link change}. */
	revisionOf(record: TokenRecord): number {
		return this.#store.get(tokenKey(record))?.revision ?? 0;
	}

	/**
	 * Replaces the rights of a token that an operator made; its secret stays. Writes nothing if they are the same. Rejects with
	 * GatewayError if the token does not exist, and with StoreError "conflict" if its revision has changed.
	 */
	async change(token: TokenRights, revision: number): Promise<void> {
		// The record that is read is then at least as new as the revision: the hash is that of this revision, or there is a conflict.
		await this.sync();
		this.refresh();
		const before = this.#records.get(`token/${token.name}`);
		if (before === undefined || before.kind !== token.kind || before.salt !== undefined) {
			throw new GatewayError("malformed", `unknown token ${token.name} for a ${token.kind} that an operator made`);
		}
		const record = recordOf(token, before);
		const isSame =
			includesRights(record, before) && includesRights(before, record) && record.expires === before.expires;
		if (!isSame || revision !== this.revisionOf(before)) {
			await this.#store.set(tokenKey(before), record, revision);
		}
	}

	/** Stores a token that the gateway has made for one device, which may have one only if `replaces`. Returns whether it is stored. */
	async bind(deviceId: string, secret: string, salt: string, { replaces = false } = {}): Promise<boolean> {
		const [name, kind] = [boundName(deviceId), "device"] as const;
		const record = { name, kind, created: this.#today, devices: [deviceId], salt, sha256: digest(secret) };
		if (!replaces) {
			return await this.#create(record);
		}
		await this.#store.update(tokenKey(record), () => record);
		await this.#require(kind);
		return true;
	}

	/** Stores the record of a client that has signed in. Expired ones make room. Rejects with GatewayError if there are too many. */
	async addSignIn(signIn: Omit<SignInRecord, "kind" | "created">): Promise<void> {
		const all = [...this.#records.values()].filter(({ grant }) => grant !== undefined);
		const expired = all.filter(({ sha256 }) => this.current(sha256) === undefined);
		for (const record of expired) {
			await this.#delete(record);
		}
		if (all.length - expired.length >= MAX_SIGN_INS) {
			throw new GatewayError("busy", `too many clients have signed in (limit ${MAX_SIGN_INS}): remove some`);
		}
		await this.#create({ kind: "client", created: this.#today, ...signIn });
	}

	/**
	 * Changes a sign-in that has not ended. `change` returns the new record, or undefined to end it; it is called again if another
	 * gateway has changed it meanwhile.
	 */
	async changeSignIn(id: string, change: (record: SignInRecord) => SignInRecord | undefined): Promise<void> {
		const sha256 = digest(id);
		if (this.signIn(id) === undefined) {
			// Another gateway may have stored it just before.
			await this.sync();
		}
		await this.#store.update(`sign-in/${sha256}`, () => {
			const record = this.current(sha256) as SignInRecord | undefined;
			const changed = record && change(record);
			return changed === record ? undefined : (changed ?? null);
		});
	}

	/** Revokes a token or a sign-in, with immediate effect. Rejects with GatewayError if it does not exist. */
	async remove(name: string): Promise<void> {
		this.refresh();
		const record = this.#records.get(`token/${name}`) ?? this.records.find((each) => each.name === name);
		if (record === undefined) {
			throw new GatewayError("malformed", `unknown token ${name}`);
		}
		await this.#require(record.kind);
		await this.#delete(record);
	}

	/** Notes that a request was made with a token. */
	used({ name }: TokenRecord): void {
		const { now } = this.#store;
		if (now - (this.#uses.get(name) ?? 0) >= USE_INTERVAL) {
			this.#uses.set(name, now);
			this.#store.later(`token-use/${name}`, now);
		}
	}

	/** When a token was last used, in milliseconds since 1970, to the minute; undefined: never. */
	lastUse({ name, created }: TokenRecord): number | undefined {
		const used = Math.max(this.#uses.get(name) ?? 0, Number(this.#store.get(`token-use/${name}`)?.value ?? 0));
		// Another token with the name may have been used before.
		return used >= Date.parse(created) ? used : undefined;
	}

	get #today(): string {
		return new Date(this.now).toISOString();
	}

	/** Returns false if there is a record with that name. */
	async #create(record: TokenRecord): Promise<boolean> {
		const isNew = await isMade(this.#store.set(tokenKey(record), record, 0));
		if (isNew) {
			await this.#require(record.kind);
		}
		return isNew;
	}

	async #delete(record: TokenRecord): Promise<void> {
		await this.#store.update(tokenKey(record), () => null);
		this.#store.later(`token-use/${record.name}`, undefined);
	}

	/** Makes tokens of a kind required from now on, even after the last one is removed. */
	async #require(kind: TokenKind): Promise<void> {
		await this.#store.update(`needed/${kind}`, (entry) => (entry === undefined ? true : undefined));
	}

	#learn(key: string, entry: Entry | undefined): void {
		const before = this.#records.get(key);
		if (before !== undefined) {
			this.#records.delete(key);
			this.#hashes.delete(before.sha256);
		}
		const record = entry && tokenRecordSchema.safeParse(entry.value).data;
		if (record !== undefined && tokenKey(record) === key) {
			this.#records.set(key, record);
			this.#hashes.set(record.sha256, record);
			this.#needed.add(record.kind);
		} else if (before !== undefined) {
			this.#uses.delete(before.name);
		}
	}
}

function recordOf(token: TokenRights, { created, sha256 }: Pick<TokenRecord, "created" | "sha256">): TokenRecord {
	return { ...token, ...(token.devices && { devices: token.devices.map(deviceIdOf) }), created, sha256 };
}

/** No name that an operator chooses has a colon. */
function boundName(deviceId: string): string {
	return `device:${deviceId}`;
}

/** Milliseconds for which a code is valid. */
const CODE_LIFETIME = 600_000;

/** Characters of a code, without those that look alike. Eight of them have 40 bits. */
const CODE_ALPHABET = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ";

/** Store key of the newest code. */
const CODE_KEY = "sign-in-code";

/** A code, as it is stored. `expires`: in milliseconds since 1970. */
const CODE_SCHEMA = z.object({ sha256: z.string(), expires: z.number() });

/** Makes the code that approves one sign-in within ten minutes: `ABCD-EFGH`. It replaces the one before. */
export async function makeSignInCode(store: Store): Promise<string> {
	const digits = Array.from({ length: 8 }, () => CODE_ALPHABET[randomInt(CODE_ALPHABET.length)]).join("");
	const code: z.infer<typeof CODE_SCHEMA> = { sha256: digest(digits), expires: store.now + CODE_LIFETIME };
	await store.update(CODE_KEY, () => code);
	return `${digits.slice(0, 4)}-${digits.slice(4)}`;
}

/** Whether a person has entered the code that was made last, in time. It is valid once. Rejects with StoreError. */
export async function takeSignInCode(store: Store, entered: string): Promise<boolean> {
	store.refresh(CODE_KEY);
	const entry = store.get(CODE_KEY);
	const code = CODE_SCHEMA.safeParse(entry?.value).data;
	const sha256 = digest(entered.replace(/[\s-]/g, "").toUpperCase());
	const isValid = code !== undefined && code.expires > store.now && code.sha256 === sha256;
	return isValid && (await isMade(store.delete(CODE_KEY, entry?.revision)));
}

/** Whether a person has entered a code, rather than a token. */
export function looksLikeCode(entered: string): boolean {
	return /^[\s-]*(?:[2-9A-HJ-NP-Z][\s-]*){8}$/i.test(entered);
}
