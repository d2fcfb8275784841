import { cors } from "hono/cors";
import type { Middleware } from "./route.js";

/** Security headers of an API: no rendering, framing, sniffing or caching. */
const HEADERS = new Map([
	["Cache-Control", "no-store"],
	["Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"],
	["Cross-Origin-Opener-Policy", "same-origin"],
	["Referrer-Policy", "no-referrer"],
	["X-Content-Type-Options", "nosniff"],
	["X-Frame-Options", "DENY"],
]);

/** Headers are set on Node's response, before the route runs: a route that streams writes to that response itself. */
export const setHeaders: Middleware = async (c, next) => {
	c.env.outgoing.setHeaders(HEADERS);
	await next();
};

/** No list of headers: those of MCP 2026-07-28 are named by tools (`Mcp-Param-…`). */
const CORS = {
	origin: (origin: string) => origin,
	allowMethods: ["GET", "POST", "PATCH", "DELETE"],
	exposeHeaders: ["Mcp-Session-Id", "MCP-Protocol-Version", "WWW-Authenticate", "Retry-After"],
	maxAge: 600,
};

const answerCors = cors(CORS);

/** CORS, for pages in browsers: nothing else sends an Origin. It must have been checked before. */
export const allowOrigin: Middleware = async (c, next) => {
	if (c.env.incoming.headers.origin !== undefined) {
		const preflight = await answerCors(c, async () => {});
		if (preflight !== undefined) {
			return preflight;
		}
		c.env.outgoing.setHeaders(c.res.headers);
	}
	return await next();
};
