import type { IncomingMessage } from "node:http";
import { parse, serialize } from "hono/utils/cookie";
import { SESSION_LIFETIME } from "./console-sessions.js";

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
