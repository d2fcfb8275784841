import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { isObject } from "../../../src/text/is-object.js";
import { replaceFile } from "./atomic-file.js";

export type TokenKind = "host" | "device";

/** What is kept of a token: not the token itself. */
export interface TokenRecord {
	/** Tells tokens apart, and is what logs say. */
	readonly name: string;
	/** Whom it lets in. */
	readonly kind: TokenKind;
	/** When it was made, ISO 8601. */
	readonly created: string;
	/** The only devices it is good for: those a host reaches, or the device that may show it. Absent: all. */
	readonly devices?: readonly string[];
	/** Whether a host sees and calls user-only tools. */
	readonly userTools?: boolean;
	/**
	 * SHA-256 of the token, hex. A slow hash is for what people choose; a token has 256 random bits, which nobody guesses,
	 * and is checked with every request.
	 */
	readonly sha256: string;
}

/** The file of tokens, or a change to it, makes no sense. */
export class TokenError extends Error {
	constructor(message: string, options?: { cause?: unknown }) {
		super(message, options);
		this.name = "TokenError";
	}
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;

/** What hosts are called of which no token is asked: no token may pass for them. */
export const NO_TOKEN_NAME = "local";

/** Tells people and secret scanners what they have before them. */
const PREFIX = "xsmcp_";

const ABSENT = "absent";

/** The tokens that let hosts and devices in, in a file that several processes may change. */
export class TokenStore {
	readonly #path: string;
	readonly #onDamaged: (error: TokenError) => void;
	#records: readonly TokenRecord[] = [];
	#version = ABSENT;

	/**
	 * @param folder the gateway's state folder; a missing file is a store without tokens
	 * @param onDamaged hears, once, of a file that somebody damaged meanwhile; the tokens stay as they were
	 * @throws TokenError when the file is damaged from the beginning
	 */
	constructor(folder: string, onDamaged: (error: TokenError) => void = () => {}) {
		this.#path = join(folder, "tokens.json");
		this.#onDamaged = onDamaged;
		this.#reload();
	}

	/** Every token, in the order they were made. */
	get records(): readonly TokenRecord[] {
		return this.#records;
	}

	/** Whether anyone of that kind could be let in, as of now. */
	has(kind: TokenKind): boolean {
		this.refresh();
		return this.#records.some((record) => record.kind === kind);
	}

	/** The token that this is, or undefined. As of now: a token that another process removed is no longer one. */
	verify(kind: TokenKind, secret: string): TokenRecord | undefined {
		this.refresh();
		const given = digest(secret);
		let found: TokenRecord | undefined;
		// All are compared, and each in constant time: how long it takes says nothing about any of them.
		for (const record of this.#records) {
			if (timingSafeEqual(given, Buffer.from(record.sha256, "hex")) && record.kind === kind) {
				found = record;
			}
		}
		return found;
	}

	/** Makes a token. Returns it: this is the only time that it can be read. */
	add(token: Omit<TokenRecord, "sha256" | "created">): string {
		if (!NAME.test(token.name)) {
			throw new TokenError(
				`name: expected up to 64 letters, digits, "_", "." and "-", got ${JSON.stringify(token.name)}`,
			);
		}
		this.#reload();
		if (token.name === NO_TOKEN_NAME || this.#records.some(({ name }) => name === token.name)) {
			throw new TokenError(`there is a token ${token.name} already`);
		}
		const secret = PREFIX + randomBytes(32).toString("base64url");
		const created = new Date().toISOString();
		this.#write([...this.#records, { ...token, created, sha256: digest(secret).toString("hex") }]);
		return secret;
	}

	/** Whoever shows the token is no longer let in. */
	remove(name: string): void {
		this.#reload();
		const rest = this.#records.filter((record) => record.name !== name);
		if (rest.length === this.#records.length) {
			throw new TokenError(`there is no token ${name}`);
		}
		this.#write(rest);
	}

	/** Reads the file again if it has changed. Returns whether the tokens have. */
	refresh(): boolean {
		try {
			return this.#reload();
		} catch (error) {
			this.#onDamaged(error as TokenError);
			return false;
		}
	}

	#reload(): boolean {
		const version = versionOf(this.#path);
		if (version === this.#version) {
			return false;
		}
		this.#version = version;
		this.#records = version === ABSENT ? [] : readRecords(this.#path);
		return true;
	}

	#write(records: readonly TokenRecord[]): void {
		replaceFile(this.#path, `${JSON.stringify({ version: 1, tokens: records }, undefined, "\t")}\n`);
		this.#reload();
	}
}

function digest(secret: string): Buffer {
	return createHash("sha256").update(secret).digest();
}

/** Changes whenever the file does: it is replaced, so it is another inode. */
function versionOf(path: string): string {
	try {
		const stat = statSync(path, { throwIfNoEntry: false });
		return stat === undefined ? ABSENT : `${stat.ino} ${stat.mtimeMs} ${stat.size}`;
	} catch (error) {
		return (error as Error).message;
	}
}

function readRecords(path: string): TokenRecord[] {
	let content: unknown;
	try {
		content = JSON.parse(readFileSync(path, "utf8"));
	} catch (error) {
		throw new TokenError(`${path}: cannot be read: ${(error as Error).message}`, { cause: error });
	}
	if (!isObject(content) || content.version !== 1 || !Array.isArray(content.tokens)) {
		throw new TokenError(`${path}: expected version 1 of a list of tokens`);
	}
	for (const [index, record] of content.tokens.entries()) {
		if (!isRecord(record)) {
			throw new TokenError(`${path}: tokens[${index}]: not a token`);
		}
	}
	return content.tokens;
}

function isRecord(record: unknown): record is TokenRecord {
	return (
		isObject(record) &&
		typeof record.name === "string" &&
		(record.kind === "host" || record.kind === "device") &&
		typeof record.created === "string" &&
		(record.devices === undefined ||
			(Array.isArray(record.devices) && record.devices.every((id) => typeof id === "string"))) &&
		(record.userTools === undefined || typeof record.userTools === "boolean") &&
		typeof record.sha256 === "string" &&
		/^[0-9a-f]{64}$/.test(record.sha256)
	);
}
