import { readFileSync, statSync } from "node:fs";
import { describeIssues } from "xs-mcp-manager/core";
import * as z from "zod";
import { replaceFile } from "./atomic-file.js";

/** The kind of a token's owner. */
export type TokenKind = "client" | "device";

export const TOKEN_KINDS = ["client", "device"] as const satisfies readonly TokenKind[];

/** The file of tokens, or a change to it, cannot be used. */
export class TokenError extends Error {
	override readonly name = "TokenError";
}

/** A client was called "host" in the files of version 0.1. */
export const tokenKindSchema = z.preprocess((word) => (word === "host" ? "client" : word), z.enum(TOKEN_KINDS));

/** SHA-256, hex. */
const hash = z.string().regex(/^[0-9a-f]{64}$/);

/** The newest tokens of a client that has signed in. */
const grant = z.object({
	/** The client's id, and its name for people. */
	client: z.string(),
	clientName: z.string(),
	/** The resource that the tokens are for. */
	audience: z.string(),
	/** The access token, and when it is no longer valid. */
	access: hash,
	accessExpires: z.iso.datetime(),
	/** The refresh token. */
	refresh: hash,
	/** The refresh token before, and until when it is answered as the first time: that answer may have been lost. */
	previous: z.object({ refresh: hash, until: z.iso.datetime() }).optional(),
});

/** A client's rights, in the words of a token's record. */
export const LIMITS = {
	/** The only devices that it applies to: the devices that a client can access, or the device that may use it. Absent: all. */
	devices: z.array(z.string()).readonly().optional(),
	/** Whether a client only sees devices and calls tools that are known to be read-only. */
	readOnly: z.boolean().optional(),
	/** Whether a client sees and calls user-only tools. */
	userTools: z.boolean().optional(),
	/** Whether a client may listen with the microphones of devices. */
	microphone: z.boolean().optional(),
};

/** The record of a token, without the token itself, as files and a cluster hold it. Times are in ISO 8601. */
export const tokenRecordSchema = z.object({
	/** Label shown in lists and logs. */
	name: z.string(),
	kind: tokenKindSchema,
	created: z.string(),
	...LIMITS,
	/** Whether a client may list, create and remove tokens, and restart configured servers. */
	operator: z.boolean().optional(),
	/** When a client's token is no longer valid. Absent: never. */
	expires: z.iso.datetime().optional(),
	/** The input from which a bound device's token is derived: see DeviceBindings. */
	salt: z.string().optional(),
	/** Tokens of a client that has signed in. Such a record has no token of its own. */
	grant: grant.optional(),
	/** Of the token. Not a slow hash, which protects weak passwords: a token has 256 random bits. */
	sha256: hash,
});

export type TokenRecord = Readonly<z.infer<typeof tokenRecordSchema>>;
export type TokenGrant = Readonly<z.infer<typeof grant>>;

/** The changes of other stores. */
export interface TokenChange {
	/** Every record as it is now. */
	readonly records: readonly TokenRecord[];
	/** Kinds that need a token. */
	readonly needed?: readonly TokenKind[];
	/** The hashes of tokens that were removed. */
	readonly removed?: readonly string[];
}

/** Other stores that have the same tokens: those of a cluster's gateways. */
export interface TokenShare {
	/**
	 * Changes records of clients that have signed in at the other stores before it is done here.
	 *
	 * Rejects with TokenError if a record would replace one that is newer or unknown.
	 *
	 * @returns false if a record has been changed elsewhere: the change is made again once catchUp has settled
	 */
	commit(before: readonly TokenRecord[], after: readonly TokenRecord[]): Promise<boolean>;
	/** Settles when all stores have the same tokens, or cannot for now. */
	catchUp(): Promise<void>;
	/** Makes every store reject a record, including one that arrives later. */
	forbid(sha256: string, kind: TokenKind): Promise<void>;
	/** The file has changed. */
	changed(): void;
	/** The time that all stores go by, in milliseconds since 1970. */
	readonly now: number;
}

const tokensFile = z.object({
	version: z.literal(1),
	tokens: z.array(tokenRecordSchema),
	/** The hashes of tokens that were removed, here or at another gateway of a cluster: they never return. */
	removed: z.array(hash).readonly().default([]),
});
const kindsFile = z.object({ version: z.literal(1), kinds: z.array(tokenKindSchema) });

/**
 * Changes with the file, which is replaced and so gets another inode.
 *
 * @throws TokenError that names the file
 */
export function versionOf(path: string): string {
	try {
		const stat = statSync(path, { throwIfNoEntry: false });
		return stat === undefined ? "absent" : `${stat.ino} ${stat.mtimeMs} ${stat.size}`;
	} catch (error) {
		throw unreadable(path, error as Error);
	}
}

/** @throws TokenError that names the file, and the place in it */
export function readTokens(path: string): Omit<z.infer<typeof tokensFile>, "version"> {
	return read(path, tokensFile) ?? { tokens: [], removed: [] };
}

/**
 * @param removed hashes
 * @param version of the file that is replaced: see {@link versionOf}; undefined: any
 * @returns the new file's version; undefined if another process has changed the file, so that it was not replaced
 */
export async function writeTokens(
	path: string,
	tokens: readonly TokenRecord[],
	removed: readonly string[] = [],
	version?: string,
): Promise<string | undefined> {
	const text = `${JSON.stringify({ version: 1, tokens, removed }, undefined, "\t")}\n`;
	let replaced: string | undefined;
	await replaceFile(path, text, (written) => {
		// Not read later: another process may replace the file at once.
		replaced = version === undefined || versionOf(path) === version ? versionOf(written) : undefined;
		return replaced !== undefined;
	});
	return replaced;
}

/** @throws TokenError that names the file, and the place in it */
export function readKinds(path: string): readonly TokenKind[] {
	return read(path, kindsFile)?.kinds ?? [];
}

export async function writeKinds(path: string, kinds: Iterable<TokenKind>): Promise<void> {
	await replaceFile(path, `${JSON.stringify({ version: 1, kinds: [...kinds] })}\n`);
}

/** Undefined if the file does not exist. */
function read<T>(path: string, schema: z.ZodType<T>): T | undefined {
	let content: unknown;
	try {
		content = JSON.parse(readFileSync(path, "utf8"));
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "ENOENT") {
			return undefined;
		}
		throw unreadable(path, error as Error);
	}
	const { data, error } = schema.safeParse(content);
	if (error !== undefined) {
		throw new TokenError(`${path}: ${describeIssues(error.issues, "content")}`, { cause: error });
	}
	return data;
}

function unreadable(path: string, cause: Error): TokenError {
	return new TokenError(`${path}: cannot be read: ${cause.message}`, { cause });
}

/**
 * Records of tokens by what identifies them, so that a check costs the same among any number of them. Secrets are looked up by
 * their SHA-256: the duration may reveal part of a stored hash, but a secret cannot be chosen by its hash.
 */
export class TokenIndex {
	/** Every record, in the order in which they were made. */
	readonly records: readonly TokenRecord[];
	readonly kinds: ReadonlySet<TokenKind>;
	/** Keyed by the hash of the token. */
	readonly byHash: ReadonlyMap<string, TokenRecord>;
	/** Keyed by the hash of a signed-in client's access token. */
	readonly byAccess: ReadonlyMap<string, TokenRecord>;
	/** If several gateways of a cluster have chosen a name at the same moment, the first record with it. */
	readonly byName: ReadonlyMap<string, TokenRecord>;

	constructor(records: readonly TokenRecord[]) {
		const newestFirst = [...records].reverse();
		this.records = records;
		this.kinds = new Set(records.map(({ kind }) => kind));
		this.byHash = new Map(newestFirst.map((record) => [record.sha256, record]));
		this.byAccess = new Map(newestFirst.flatMap((record) => (record.grant ? [[record.grant.access, record]] : [])));
		this.byName = new Map(newestFirst.map((record) => [record.name, record]));
	}
}
