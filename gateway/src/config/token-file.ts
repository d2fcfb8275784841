import { readFileSync, statSync } from "node:fs";
import { z } from "zod";
import { replaceFile } from "./atomic-file.js";
import type { Limits } from "./scopes.js";

/** The record of a token, without the token itself. */
export interface TokenRecord extends Limits {
	/** Label shown in lists and logs. */
	readonly name: string;
	readonly kind: TokenKind;
	/** When it was made, ISO 8601. */
	readonly created: string;
	/** The only devices that it applies to: those that a client can access, or the device that may use it. Absent: all. */
	readonly devices?: readonly string[] | undefined;
	/** The input from which a bound device's token is derived: see DeviceBindings. */
	readonly salt?: string | undefined;
	/** Whether a client sees and calls user-only tools. */
	readonly userTools?: boolean | undefined;
	/** Whether a client may list, create and remove tokens, and restart configured servers. */
	readonly operator?: boolean | undefined;
	/** Whether a client only sees devices and calls tools that are known to be read-only. */
	readonly readOnly?: boolean | undefined;
	/** When a client's token is no longer valid, ISO 8601. Absent: never. */
	readonly expires?: string | undefined;
	/** Tokens of a client that has signed in. Such a record has no token of its own. */
	readonly grant?: TokenGrant | undefined;
	/**
	 * SHA-256 of the token, hex. Not a slow hash, which protects weak passwords: a token has 256 random bits, and is
	 * checked with every request.
	 */
	readonly sha256: string;
}

/** The newest tokens of a client that has signed in. */
export interface TokenGrant {
	/** The client's id, and its name for people. */
	readonly client: string;
	readonly clientName: string;
	/** The resource that the tokens are for. */
	readonly audience: string;
	/** SHA-256 of the access token, hex, and when it is no longer valid, ISO 8601. */
	readonly access: string;
	readonly accessExpires: string;
	/** SHA-256 of the refresh token, hex. */
	readonly refresh: string;
}

/** The kind of a token's owner. */
export type TokenKind = "client" | "device";

export const TOKEN_KINDS = ["client", "device"] as const satisfies readonly TokenKind[];

/** The file of tokens, or a change to it, cannot be used. */
export class TokenError extends Error {
	constructor(message: string, options?: { cause?: unknown }) {
		super(message, options);
		this.name = "TokenError";
	}
}

/** A client was called "host" in the files of version 0.1. */
export const tokenKindSchema = z
	.enum(["client", "device", "host"])
	.transform((word) => (word === "host" ? "client" : word));

const hash = z.string().regex(/^[0-9a-f]{64}$/);

const grant = z.object({
	client: z.string(),
	clientName: z.string(),
	audience: z.string(),
	access: hash,
	accessExpires: z.iso.datetime(),
	refresh: hash,
});

/** A record as files and a cluster hold it. */
export const tokenRecordSchema = z.object({
	name: z.string(),
	kind: tokenKindSchema,
	created: z.string(),
	devices: z.array(z.string()).optional(),
	userTools: z.boolean().optional(),
	operator: z.boolean().optional(),
	readOnly: z.boolean().optional(),
	microphone: z.boolean().optional(),
	expires: z.iso.datetime().optional(),
	salt: z.string().optional(),
	grant: grant.optional(),
	sha256: hash,
});

const tokensFile = z.object({ version: z.literal(1), tokens: z.array(tokenRecordSchema) });
const kindsFile = z.object({ version: z.literal(1), kinds: z.array(tokenKindSchema) });

/** The version of a file that does not exist. */
export const ABSENT = "absent";

/**
 * Changes with the file, which is replaced and so gets another inode.
 *
 * @throws TokenError that names the file
 */
export function versionOf(path: string): string {
	try {
		const stat = statSync(path, { throwIfNoEntry: false });
		return stat === undefined ? ABSENT : `${stat.ino} ${stat.mtimeMs} ${stat.size}`;
	} catch (error) {
		throw unreadable(path, error as Error);
	}
}

/** @throws TokenError that names the file, and the place in it */
export function readTokens(path: string): readonly TokenRecord[] {
	return read(path, tokensFile)?.tokens ?? [];
}

export async function writeTokens(path: string, tokens: readonly TokenRecord[]): Promise<void> {
	await replaceFile(path, `${JSON.stringify({ version: 1, tokens }, undefined, "\t")}\n`);
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
		const [issue] = error.issues;
		throw new TokenError(`${path}: ${issue?.path.join(".") || "content"}: ${issue?.message}`, { cause: error });
	}
	return data;
}

function unreadable(path: string, cause: Error): TokenError {
	return new TokenError(`${path}: cannot be read: ${cause.message}`, { cause });
}
