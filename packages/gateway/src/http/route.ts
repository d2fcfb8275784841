import type { IncomingMessage, ServerResponse } from "node:http";
import type { HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { Context, Handler, MiddlewareHandler } from "hono";
import type { Server, ServerRegistry } from "xs-mcp-manager/core";
import { type Access, type AccessGrant, reaches } from "../config/access.js";
import type { TokenRecord } from "../config/token-record.js";
import type { ConsoleSession } from "./console-sessions.js";
import { HttpError } from "./http-error.js";

/** A request that may be served, and on whose behalf. */
export interface Admission {
	readonly access: Access;
	/** The network address of the client. */
	readonly address: string;
	/** With whom its requests and streams are counted: a token, or an address without one. */
	readonly owner: string;
	/** The token of the request; undefined if none is required. */
	readonly token: TokenRecord | undefined;
	/** The console's session by whose cookie the request was admitted; undefined for a token or none. */
	readonly session?: ConsoleSession | undefined;
	/** The grant of the request's access token; undefined if it has none. */
	readonly grant?: AccessGrant | undefined;
}

/** Change by a request, for the audit log: the new names and tags of a device. */
export type AuditedChange = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Hono's context: Node's request and response, and results of the middleware. */
export interface HttpEnv {
	Bindings: HttpBindings;
	Variables: { admission: Admission; change?: AuditedChange };
}

/** Answers the requests for one path. */
export type Route = Handler<HttpEnv>;

export type Middleware = MiddlewareHandler<HttpEnv>;

/** Rejects requests with another method. Hono itself would answer HEAD wherever there is GET. */
export function allow(...methods: readonly string[]): Middleware {
	return async (c, next) => {
		checkMethod(c.req.method, ...methods);
		await next();
	};
}

/** @throws HttpError (405) for another method */
export function checkMethod(method = "", ...methods: readonly string[]): void {
	if (!methods.includes(method)) {
		const list = methods.join(", ");
		throw new HttpError(405, "method", `expected ${list}`, { Allow: list });
	}
}

/** Whether a request may change what everybody uses. Without tokens, every user of this machine may do everything. */
export function mayOperate({ access, token, grant }: Admission): boolean {
	return (
		grant === undefined &&
		!access.isForeignPage &&
		access.devices === undefined &&
		(token === undefined || token.operator === true)
	);
}

/** Rejects clients that may not change what everybody uses: those without an operator's token, and other sites. */
export const needsOperator: Middleware = async (c, next) => {
	if (!mayOperate(c.var.admission)) {
		throw new HttpError(403, "token", "requires a token created with --operator");
	}
	await next();
};

/**
 * The device in the request's path.
 *
 * @throws HttpError (404) if it is not known, or the token cannot access it
 */
export function deviceOf(c: Context<HttpEnv>, servers: ServerRegistry): Server {
	const name = c.req.param("device") ?? "";
	const server = servers.find(name);
	if (server === undefined || !reaches(c.var.admission.access, server.id)) {
		throw new HttpError(404, "not-found", `unknown device ${name}`);
	}
	return server;
}

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
 * Sets the headers of CORS, for pages in browsers: nothing else sends an Origin. It must have been checked before. Allows the
 * requested headers instead of a list, because tools name some of them (`Mcp-Param-…`, MCP 2026-07-28).
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
