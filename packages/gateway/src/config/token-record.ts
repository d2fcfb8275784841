import * as z from "zod";

/** The kinds of a token's owner. */
export const TOKEN_KINDS = ["client", "device"] as const;

export type TokenKind = (typeof TOKEN_KINDS)[number];

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
	userTools: z.boolean().optional(),
	/** Whether a client may listen with the microphones of devices. */
	microphone: z.boolean().optional(),
};

/** The record of a token, without the token itself, as it is stored. Times are in ISO 8601. */
export const tokenRecordSchema = z.object({
	/** Label shown in lists and logs. */
	name: z.string(),
	kind: z.enum(TOKEN_KINDS),
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
	/**
	 * Hash of the token, or of a sign-in's id. Not a slow hash, which protects weak passwords: a token has 256 random bits. It is
	 * looked up, so the duration may reveal part of it, but a secret cannot be chosen by its hash.
	 */
	sha256: hash,
});

export type TokenRecord = Readonly<z.infer<typeof tokenRecordSchema>>;

/** The record of a client that has signed in. */
export type SignInRecord = TokenRecord & { readonly grant: Readonly<z.infer<typeof grant>> };

/** The key of a record in the store. */
export function tokenKey({ name, grant, sha256 }: Pick<TokenRecord, "name" | "grant" | "sha256">): string {
	return grant === undefined ? `token/${name}` : `sign-in/${sha256}`;
}
