import type { IncomingMessage, ServerResponse } from "node:http";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { Middleware } from "./route.js";

/** Security headers of an API: no rendering, framing, sniffing or caching. */
export const HEADERS = new Map([
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

/** Headers of each answer to a page in a browser, and of one to a preflight request. */
const CORS = {
	"Access-Control-Expose-Headers": "Mcp-Session-Id,MCP-Protocol-Version,WWW-Authenticate,Retry-After",
	Vary: "Origin",
};
const PREFLIGHT = {
	"Access-Control-Allow-Methods": "GET,POST,PATCH,DELETE",
	"Access-Control-Max-Age": "600",
	Vary: "Origin, Access-Control-Request-Headers",
};

/**
 * Sets the headers of CORS, for pages in browsers: nothing else sends an Origin. It must have been checked before. No list of
 * headers is allowed but what is asked for: those of MCP 2026-07-28 are named by tools (`Mcp-Param-…`).
 *
 * @returns whether it was a preflight request, which is then answered
 */
export function answerCors({ method, headers }: IncomingMessage, outgoing: ServerResponse): boolean {
	const { origin, "access-control-request-headers": asked } = headers;
	if (origin === undefined) {
		return false;
	}
	outgoing.setHeaders(new Map(Object.entries({ "Access-Control-Allow-Origin": origin, ...CORS })));
	if (method === "OPTIONS") {
		outgoing.writeHead(204, { ...PREFLIGHT, ...(asked && { "Access-Control-Allow-Headers": asked }) }).end();
	}
	return method === "OPTIONS";
}

/** Answers preflight requests, and sets the headers of CORS. */
export const allowOrigin: Middleware = async (c, next) =>
	answerCors(c.env.incoming, c.env.outgoing) ? RESPONSE_ALREADY_SENT : await next();
