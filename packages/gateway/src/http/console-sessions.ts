import { randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { parse, serialize } from "hono/utils/cookie";
import { digest } from "../config/digest.js";
import type { TokenRecord } from "../config/token-record.js";

/** Milliseconds for which a person stays signed in. */
const SESSION_LIFETIME = 12 * 60 * 60_000;

/** Limits of concurrent sessions: in all, and for one token. At the limit, a new session replaces the oldest. */
const MAX_SESSIONS = 200;
const MAX_SESSIONS_PER_TOKEN = 20;

/** A person who has exchanged a token for a cookie. */
export interface ConsoleSession {
	/** SHA-256 of the token, by which its record is found: one that is removed or has expired ends the session. */
	readonly token: string;
	/** In milliseconds since 1970. */
	readonly expires: number;
}

/** The sessions of the console. They are in memory: a gateway that restarts asks for the token again. */
export class ConsoleSessions {
	/** By the hash of the cookie's value; the oldest first. */
	readonly #sessions = new Map<string, ConsoleSession>();

	/** Opens a session. Returns the cookie's value, 256 random bits. Only their hash is stored. */
	open({ sha256: token }: TokenRecord): string {
		this.#makeRoom(token);
		const secret = randomBytes(32).toString("base64url");
		this.#sessions.set(digest(secret), { token, expires: Date.now() + SESSION_LIFETIME });
		return secret;
	}

	/** The session of a cookie; undefined if it is unknown, signed out or expired. */
	find(secret: string): ConsoleSession | undefined {
		const key = digest(secret);
		const session = this.#sessions.get(key);
		if (session !== undefined && session.expires <= Date.now()) {
			this.#sessions.delete(key);
			return undefined;
		}
		return session;
	}

	/** Ends the session of a cookie. */
	close(secret: string): void {
		this.#sessions.delete(digest(secret));
	}

	/** Whether a session that was found before goes on. */
	has(session: ConsoleSession): boolean {
		return session.expires > Date.now() && [...this.#sessions.values()].includes(session);
	}

	#makeRoom(token: string): void {
		const now = Date.now();
		for (const [key, { expires }] of this.#sessions) {
			if (expires <= now) {
				this.#sessions.delete(key);
			}
		}
		const own = [...this.#sessions].filter(([, session]) => session.token === token);
		const [oldest] = own.length >= MAX_SESSIONS_PER_TOKEN ? own : [...this.#sessions];
		if (oldest !== undefined && (own.length >= MAX_SESSIONS_PER_TOKEN || this.#sessions.size >= MAX_SESSIONS)) {
			this.#sessions.delete(oldest[0]);
		}
	}
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
