import { randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { parse, serialize } from "hono/utils/cookie";
import { digest, type Store } from "xs-mcp-manager/core";
import * as z from "zod";
import type { TokenRecord } from "../config/access.js";

/** Milliseconds for which a person stays signed in. */
const SESSION_LIFETIME = 12 * 60 * 60_000;

/** Limits of concurrent sessions: in all, and for one token. At the limit, a new session replaces the oldest. */
const MAX_SESSIONS = 200;
const MAX_SESSIONS_PER_TOKEN = 20;

/** In the store, before the hash of a cookie's value. */
const SESSION = "console-session/";

const RECORD = z.object({
	/** SHA-256 of the token, by which its record is found: one that is removed or has expired ends the session. */
	token: z.string(),
	/** In milliseconds since 1970. */
	expires: z.number(),
});

/** A person who has exchanged a token for a cookie. */
export interface ConsoleSession extends z.output<typeof RECORD> {
	readonly key: string;
}

/** The sessions of the console. */
export type ConsoleSessions = ReturnType<typeof openConsoleSessions>;

/** Opens the sessions of the console. They are in the store: people stay signed in while the gateway restarts. */
export function openConsoleSessions(store: Store) {
	/** Keys of sessions that have ended here, until the store has removed them. */
	const ended = new Set<string>();
	store.watch(SESSION, (key, entry) => entry === undefined && ended.delete(key));

	/**
	 * Opens a session. Returns the cookie's value, 256 random bits. Only their hash is stored. Ends expired sessions and, beyond a limit,
	 * the oldest. Rejects with StoreError.
	 */
	const open = async ({ sha256: token }: TokenRecord): Promise<string> => {
		const secret = randomBytes(32).toString("base64url");
		await store.set(SESSION + digest(secret), { token, expires: Date.now() + SESSION_LIFETIME });
		const entries = store.list(SESSION).map(({ key }) => ({ key, session: read(key) }));
		const current = entries.flatMap(({ session }) => session ?? []).sort((a, b) => a.expires - b.expires);
		const own = current.filter((session) => session.token === token);
		const excess = [...current.slice(0, -MAX_SESSIONS), ...own.slice(0, -MAX_SESSIONS_PER_TOKEN)];
		const ended = entries.filter(({ session }) => session === undefined);
		for (const { key } of [...ended, ...excess]) {
			end(key);
		}
		return secret;
	};

	/** Finds the session of a cookie; undefined if it is unknown, signed out or expired. */
	const find = (secret: string): ConsoleSession | undefined => read(SESSION + digest(secret));

	/** Ends the session of a cookie at once, even while the store cannot be written. */
	const close = (secret: string): void => end(SESSION + digest(secret));

	/** Whether a session that was found before continues. */
	const has = ({ key }: ConsoleSession): boolean => read(key) !== undefined;

	/** Reads a session; undefined if there is none, or it has ended. */
	const read = (key: string): ConsoleSession | undefined => {
		const entry = ended.has(key) ? undefined : store.get(key);
		const { data } = RECORD.safeParse(entry?.value);
		return data && data.expires > Date.now() ? { key, ...data } : undefined;
	};

	/** Ends a session here; the store removes it when it can be written. */
	const end = (key: string): void => {
		if (store.get(key) !== undefined) {
			ended.add(key);
			store.later(key, undefined);
		}
	};
	return { open, find, close, has };
}

/** Gateways on other ports of one machine share its cookies, so each has a name of its own. */
function nameFor({ headers: { host = "" } }: IncomingMessage): string {
	const port = /:([0-9]+)$/.exec(host)?.[1];
	return port === undefined ? "xs_mcp_console" : `xs_mcp_console_${port}`;
}

/** The session's secret in a request's cookies; undefined if it has none. */
export function readCookie(request: IncomingMessage): string | undefined {
	const name = nameFor(request);
	const secret = parse(request.headers.cookie ?? "", name)[name];
	return /^[A-Za-z0-9_-]{43}$/.test(secret ?? "") ? secret : undefined;
}

/**
 * Makes the header that sets a cookie which only this gateway's own page sends, and that no script can read. Without a secret, one
 * that removes it.
 *
 * @param isSecure whether the page came over TLS
 */
export function cookieHeader(request: IncomingMessage, secret: string | undefined, isSecure: boolean): string {
	const maxAge = secret === undefined ? 0 : Math.floor(SESSION_LIFETIME / 1_000);
	const options = { path: "/", maxAge, httpOnly: true, sameSite: "Strict", secure: isSecure } as const;
	return serialize(nameFor(request), secret ?? "", options);
}
