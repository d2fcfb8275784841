import type { HttpBindings } from "@hono/node-server";
import type { Context, Handler, MiddlewareHandler } from "hono";
import type { Admission } from "./auth.js";
import { HttpError } from "./http-error.js";

/** What Hono's context holds: Node's request and response, and what the middleware before a route has found out. */
export interface HttpEnv {
	Bindings: HttpBindings;
	Variables: { admission: Admission };
}

/** Answers the requests for one path. */
export type Route = Handler<HttpEnv>;

export type Middleware = MiddlewareHandler<HttpEnv>;

/** Rejects requests with another method. Hono itself would answer HEAD wherever there is GET. */
export function allow(...methods: readonly string[]): Middleware {
	const list = methods.join(", ");
	return async (c, next) => {
		if (!methods.includes(c.req.method)) {
			throw new HttpError(405, "method", `expected ${list}`, { Allow: list });
		}
		await next();
	};
}

/**
 * Lets a middleware set its headers before the route runs, not after it: a route that streams writes to Node's response,
 * to which nothing can be added afterwards.
 */
export function early(middleware: Middleware): Middleware {
	return async (c, next) => (await middleware(c, async () => {})) ?? (await next());
}

/** Passes the headers that were set so far to Node's response, for a route that writes there itself. */
export function sendHeaders({ res, env }: Context<HttpEnv>): void {
	for (const [name, value] of res.headers) {
		env.outgoing.setHeader(name, value);
	}
}
