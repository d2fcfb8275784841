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
