import type { IncomingMessage } from "node:http";
import { SESSION_LIFETIME } from "./console-sessions.js";

/** A cookie that only this gateway's own page sends, and that no script can read. */
interface CookieOptions {
	/** Whether the page came over TLS. */
	readonly isSecure: boolean;
}

/** Gateways on other ports of one machine share its cookies, so each has a name of its own. */
function nameFor({ headers: { host = "" } }: IncomingMessage): string {
	const port = /:([0-9]+)$/.exec(host)?.[1];
	return port === undefined ? "xs_mcp_console" : `xs_mcp_console_${port}`;
}

/** The session's secret in a request's cookies; undefined if it has none. */
export function readCookie(request: IncomingMessage): string | undefined {
	const name = nameFor(request);
	for (const pair of (request.headers.cookie ?? "").split(";")) {
		const [key, value] = pair.trim().split("=");
		if (key === name && value !== undefined && /^[A-Za-z0-9_-]{43}$/.test(value)) {
			return value;
		}
	}
	return undefined;
}

/** The header that sets it; without a secret, one that removes it. */
export function cookieHeader(
	request: IncomingMessage,
	secret: string | undefined,
	{ isSecure }: CookieOptions,
): string {
	const age = secret === undefined ? 0 : Math.floor(SESSION_LIFETIME / 1_000);
	const parts = [`${nameFor(request)}=${secret ?? ""}`, "Path=/", `Max-Age=${age}`, "HttpOnly", "SameSite=Strict"];
	return [...parts, ...(isSecure ? ["Secure"] : [])].join("; ");
}
