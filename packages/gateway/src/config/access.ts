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

/** The scopes of access tokens: what OAuth calls the limits that `token add` sets. */
export const SCOPES = {
	/** Sees devices and calls tools that are known to be read-only, like `--read-only`. */
	read: "devices:read",
	/** Calls every tool but user-only ones. */
	control: "devices:control",
	/** Calls user-only tools as well, like `--allow-user-tools`. */
	userTools: "devices:user-tools",
	/** Listens with microphones as well, like `--allow-microphone`. */
	microphone: "devices:microphone",
} as const;

/** `device:ID`: only this device, like `--device ID`. Several are allowed; without any, all devices. */
const DEVICE = "device:";

/** A client's rights. */
export type Limits = Pick<TokenRecord, keyof typeof LIMITS>;

/** Whether a token has every right that another record of it has. When they expire is not compared. */
export function includesRights(token: TokenRecord, other: TokenRecord): boolean {
	const devices = token.devices && new Set(token.devices);
	return (
		(devices === undefined || other.devices?.every((id) => devices.has(id)) === true) &&
		(!token.readOnly || other.readOnly === true) &&
		(["userTools", "microphone", "operator"] as const).every((right) => token[right] || !other[right])
	);
}

/** Whether a word is a scope of the gateway. */
export function isScope(word: string): boolean {
	const isOfDevice = word.startsWith(DEVICE) && word.length > DEVICE.length && word.length <= DEVICE.length + 128;
	return isOfDevice || Object.values<string>(SCOPES).includes(word);
}

/** The limits that scopes allow; undefined if they allow nothing. Unknown words are ignored. */
export function limitsOf(scopes: Iterable<string>): Limits | undefined {
	const words = [...scopes].filter(isScope);
	const devices = words.filter((word) => word.startsWith(DEVICE)).map((word) => deviceIdOf(word.slice(DEVICE.length)));
	const userTools = words.includes(SCOPES.userTools);
	const microphone = words.includes(SCOPES.microphone);
	const control = userTools || microphone || words.includes(SCOPES.control);
	if (!control && !words.includes(SCOPES.read)) {
		return undefined;
	}
	return {
		...(devices.length > 0 && { devices }),
		...(!control && { readOnly: true }),
		...(userTools && { userTools: true }),
		...(microphone && { microphone: true }),
	};
}

/** The scopes of limits, separated by spaces: RFC 6749 section 3.3. */
export function scopesOf({ devices = [], readOnly, userTools, microphone }: Limits): string {
	const more = [...(userTools ? [SCOPES.userTools] : []), ...(microphone ? [SCOPES.microphone] : [])];
	const tools = readOnly ? [SCOPES.read] : [SCOPES.control, ...more];
	return [...tools, ...devices.map((id) => DEVICE + id)].join(" ");
}

const MAC_ADDRESS = /^(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}$/i;

/** Returns a device's id in one form: a MAC address in lower case, because programs write it either way. */
export function deviceIdOf(text: string): string {
	return MAC_ADDRESS.test(text) ? text.toLowerCase() : text;
}

/** The access of an authenticated client. The guard keeps one object per token record. */
export interface Access {
	/** The token's name, or "local". For logs, and so that only the principal that opened a session can use it. */
	readonly principal: string;
	/** Which token: its hash, since another may get the same name. Absent without a token. */
	readonly holder?: string;
	/** Ids of the devices that it may reach; absent: every device. */
	readonly devices?: ReadonlySet<string>;
	/** Whether it sees and calls user-only tools; or the ids of the devices for which it does. */
	readonly userTools: boolean | ReadonlySet<string>;
	/** Whether it listens with the microphones of devices, if the gateway allows that at all. */
	readonly microphone?: boolean;
	/** Whether it only reads: it sees and calls tools that are known to be read-only, and changes nothing. */
	readonly readOnly?: boolean;
	/** Whether a page of another origin calls: it does not get the gateway's own tools. */
	readonly isForeignPage?: boolean;
}

/** The name of clients without a token. Reserved. */
export const NO_TOKEN_NAME = "local";

/** The access of a client of this machine without a token: every device, user-only tools only as configured. */
export function localAccess(userTools: readonly string[]): Access {
	const some = userTools.length > 0 && new Set(userTools.map(deviceIdOf));
	return { principal: NO_TOKEN_NAME, userTools: userTools.includes("*") || some, microphone: true };
}

/** The access of a client with a token, whose hash is `holder`. */
export function accessOf(principal: string, limits: Limits, userTools: readonly string[], holder?: string): Access {
	return {
		principal,
		...(holder !== undefined && { holder }),
		...(limits.devices && { devices: new Set(limits.devices) }),
		...(limits.readOnly && { readOnly: true }),
		...(limits.microphone && { microphone: true }),
		userTools: limits.userTools === true || localAccess(userTools).userTools,
	};
}

/** Whether a client may reach the device with this id. */
export function reaches({ devices }: Access, id: string): boolean {
	return devices === undefined || devices.has(id);
}

/** Whether a client sees and calls the user-only tools of the device with this id. */
export function hasUserTools({ userTools }: Access, id: string): boolean {
	return userTools === true || (userTools !== false && userTools.has(id));
}

/** Whether a client may listen with the microphones of the devices that it reaches. */
export function mayListen({ microphone, readOnly, isForeignPage }: Access): boolean {
	return microphone === true && readOnly !== true && isForeignPage !== true;
}

/** The grant of an access token. */
export interface AccessGrant {
	/** Owner, for logs, limits and sessions. It has a colon, unlike the names that operators give to tokens. */
	readonly principal: string;
	/** Undefined if its scopes allow nothing. */
	readonly limits: Limits | undefined;
	/** The resources that it is for, as `ProtectedResource.identify` spells them. */
	readonly audience: readonly string[];
	/** Its record, if the gateway issued it. */
	readonly token?: TokenRecord;
	/** Whether it has neither expired nor been revoked. */
	readonly isCurrent: () => boolean;
}

/** Issuer of access tokens: the gateway, or an external one. */
export interface TokenIssuer {
	/**
	 * Verifies an access token. Rejects with GatewayError (503) if that is impossible now.
	 *
	 * @returns undefined if it is not a token of this issuer, "expired" if it was one
	 */
	verify(token: string): Promise<AccessGrant | "expired" | undefined>;
}
