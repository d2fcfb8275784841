import type { IncomingMessage, ServerResponse } from "node:http";
import type { HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { isJsonContentType } from "@modelcontextprotocol/server";
import type { Context, Handler, MiddlewareHandler } from "hono";
import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import { describeIssues, flawOf, jsonIn, MAX_NESTING, type Server, type ServerRegistry } from "xs-mcp-manager/core";
import type * as z from "zod";
import { type Access, type AccessGrant, reaches, type TokenRecord } from "../config/access.js";
import type { Configuration } from "../config/settings.js";
import { GatewayError } from "../gateway-error.js";
import type { ConsoleSession } from "./console-sessions.js";
import { victimFor } from "./fair-share.js";

/** A request that may be served, and on whose behalf. */
export interface ClientAdmission {
	readonly access: Access;
	/** With whom its requests and streams are counted: a token, or an address without one. */
	readonly owner: string;
	/** The token of the request; undefined if none is required. */
	readonly token: TokenRecord | undefined;
	/** The console's session by whose cookie the request was admitted; undefined for a token or none. */
	readonly session?: ConsoleSession | undefined;
	/** The grant of the request's access token; undefined if it has none. */
	readonly grant?: AccessGrant | undefined;
}

/** Change by a request, for the audit log: the new names and tags of a device, or the rights of a token. */
export type AuditedChange = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

/** Hono's context: Node's request and response, and results of the middleware. */
export interface HttpEnv {
	Bindings: HttpBindings;
	Variables: { admission: ClientAdmission; change?: AuditedChange };
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

/** @throws GatewayError (405) for another method */
export function checkMethod(method = "", ...methods: readonly string[]): void {
	if (!methods.includes(method)) {
		const list = methods.join(", ");
		throw new GatewayError("method", `expected ${list}`, { headers: { Allow: list } });
	}
}

/** Whether a request may change what everybody uses. Without tokens, every user of this machine may do everything. */
export function mayOperate({ access, token, grant }: ClientAdmission): boolean {
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
		throw new GatewayError("forbidden", "requires a token created with --operator");
	}
	await next();
};

/**
 * The device in the request's path.
 *
 * @throws GatewayError (404) if it is not known, or the token cannot access it
 */
export function deviceOf(c: Context<HttpEnv>, servers: ServerRegistry): Server {
	const name = c.req.param("device") ?? "";
	const server = servers.find(name);
	if (server === undefined || !reaches(c.var.admission.access, server.id)) {
		throw new GatewayError("not-found", `unknown device ${name}`);
	}
	return server;
}

/** Security headers of an API: no rendering, framing, sniffing or caching. */
export const HEADERS = {
	"Cache-Control": "no-store",
	"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
	"Cross-Origin-Opener-Policy": "same-origin",
	"Referrer-Policy": "no-referrer",
	"X-Content-Type-Options": "nosniff",
	"X-Frame-Options": "DENY",
};

/** Headers are set on Node's response, before the route runs: a route that streams writes to that response itself. */
export const setHeaders: Middleware = async (c, next) => {
	c.env.outgoing.setHeaders(new Map(Object.entries(HEADERS)));
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
		outgoing
			.writeHead(204, { ...HEADERS, ...PREFLIGHT, ...(asked && { "Access-Control-Allow-Headers": asked }) })
			.end();
	}
	return method === "OPTIONS";
}

/** Answers preflight requests, and sets the headers of CORS. */
export const allowOrigin: Middleware = async (c, next) =>
	answerCors(c.env.incoming, c.env.outgoing) ? RESPONSE_ALREADY_SENT : await next();

/**
 * Reads a request's JSON from Node's stream: hono/body-limit makes a web stream of every body first, which costs three
 * times as much as the rest of a small request. The server ends one that is too slow.
 *
 * @param maxBytes rejects with GatewayError (413) when there is more, before it is in memory
 */
export async function readJson(request: IncomingMessage, maxBytes: number): Promise<unknown> {
	if (!isJsonContentType(request.headers["content-type"] ?? "")) {
		throw new GatewayError("media-type", "Content-Type: expected application/json");
	}
	if (request.headers["content-encoding"] !== undefined) {
		throw new GatewayError("media-type", "Content-Encoding: expected none");
	}
	const body = jsonIn(await readBody(request, maxBytes));
	if (body === undefined) {
		throw new GatewayError("not-json", "request body is not JSON");
	}
	if (flawOf(body, MAX_NESTING) === "depth") {
		throw new GatewayError("malformed", `request body nested deeper than ${MAX_NESTING} levels`);
	}
	return body;
}

/** Reads a request's JSON. Rejects with GatewayError (400) that names the members that are not as in the schema; `root`: the whole. */
export async function readJsonAs<T>(
	schema: z.ZodType<T>,
	root: string,
	request: IncomingMessage,
	maxBytes: number,
): Promise<T> {
	const { data, error } = schema.safeParse(await readJson(request, maxBytes));
	if (error !== undefined) {
		throw new GatewayError("malformed", describeIssues(error.issues, root));
	}
	return data;
}

/**
 * Reads the fields of a form (application/x-www-form-urlencoded).
 *
 * @param maxBytes rejects with GatewayError (413) when there is more, before it is in memory
 */
export async function readFields(request: IncomingMessage, maxBytes: number): Promise<URLSearchParams> {
	if (!/^application\/x-www-form-urlencoded *(;|$)/i.test(request.headers["content-type"] ?? "")) {
		throw new GatewayError("media-type", "Content-Type: expected application/x-www-form-urlencoded");
	}
	return new URLSearchParams(await readBody(request, maxBytes));
}

/** @throws GatewayError if a field is missing, empty or repeated */
export function field(fields: URLSearchParams, name: string): string {
	const value = optionalField(fields, name);
	if (value === undefined) {
		throw new GatewayError("malformed", `${name}: missing`);
	}
	return value;
}

/** A field of a request; undefined if it is missing or empty. @throws GatewayError if it is repeated: RFC 6749 section 3.1 */
export function optionalField(fields: URLSearchParams, name: string): string | undefined {
	const [value, ...more] = fields.getAll(name);
	if (more.length > 0) {
		throw new GatewayError("malformed", `${name}: given twice`);
	}
	return value || undefined;
}

async function readBody(request: IncomingMessage, maxBytes: number): Promise<string> {
	const tooLarge = (): GatewayError =>
		new GatewayError("too-large", `request body too large (limit ${maxBytes} bytes)`);
	if (Number(request.headers["content-length"] ?? 0) > maxBytes) {
		throw tooLarge();
	}
	const chunks: Buffer[] = [];
	let bytes = 0;
	return await new Promise((resolve, reject) => {
		request.on("data", (chunk: Buffer) => {
			bytes += chunk.length;
			if (bytes > maxBytes) {
				request.removeAllListeners("data");
				reject(tooLarge());
			} else {
				chunks.push(chunk);
			}
		});
		request.on("end", () => resolve(Buffer.concat(chunks).toString()));
		request.on("error", reject);
	});
}

/** Seconds in which requests are counted. */
const WINDOW = 60;

/** Rate limits of a token, or of an address without one. */
export type RequestLimits = ReturnType<typeof makeLimits>;

/** Makes the limits that the settings name. */
export function makeLimits({ maxRequestsPerMinute, maxWrongTokensPerMinute }: Configuration) {
	const requests =
		maxRequestsPerMinute === 0 ? undefined : new RateLimiterMemory({ points: maxRequestsPerMinute, duration: WINDOW });
	const wrongTokens = new RateLimiterMemory({ points: maxWrongTokensPerMinute, duration: WINDOW });
	/**
	 * Counts a request of an owner: a token, or an address without one. Rejects with GatewayError (429).
	 *
	 * @returns undefined if there is no limit
	 */
	const request = (owner: string): Promise<unknown> | undefined =>
		requests?.consume(owner).catch((error: unknown) => {
			throw error instanceof RateLimiterRes ? tooMany("too many requests", error) : error;
		});
	return {
		request,
		/** Counts a request that tries a secret which may be wrong. Rejects with GatewayError (429), also after too many wrong ones. */
		async attempt(address: string): Promise<void> {
			const wrong = await wrongTokens.get(address);
			if (wrong !== null && wrong.consumedPoints >= wrongTokens.points) {
				throw tooMany("too many wrong tokens", wrong);
			}
			await request(address);
		},
		/** Counts a wrong token. */
		wrongToken: (address: string): Promise<unknown> => wrongTokens.penalty(address),
	};
}

function tooMany(what: string, { msBeforeNext }: RateLimiterRes): GatewayError {
	const seconds = Math.max(1, Math.ceil(msBeforeNext / 1000));
	return new GatewayError("rate", `${what}: try again in ${seconds} s`, { headers: { "Retry-After": `${seconds}` } });
}

/** Most open streams of one kind: of one token, or of one address without a token; and in all. */
const MAX_STREAMS_PER_OWNER = 20;
const MAX_STREAMS = 500;

/** Milliseconds between comments in a stream: proxies keep a quiet one open, and a page notices that it was lost. */
const KEEP_ALIVE = 10_000;

/**
 * Makes a function that starts streams of events of one kind, within limits. At the limit of all, one of the owner with the most
 * makes room for an owner with fewer.
 *
 * @param kind in the plural, for the error
 * @returns a function that gets the `owner` of the stream's admission. It throws GatewayError (503) if the owner has too many
 */
export function eventStreams(kind: string): (owner: string, response: ServerResponse) => void {
	/** The oldest first. */
	const open = new Map<ServerResponse, { holder: readonly string[]; isIdle: false; response: ServerResponse }>();
	const tooMany = (limit: number): GatewayError =>
		new GatewayError("busy", `too many ${kind} are open (limit ${limit})`);
	return (owner, response) => {
		const all = [...open.values()];
		if (all.filter(({ holder }) => holder[0] === owner).length >= MAX_STREAMS_PER_OWNER) {
			throw tooMany(MAX_STREAMS_PER_OWNER);
		}
		if (all.length >= MAX_STREAMS) {
			const victim = victimFor(all, [owner], MAX_STREAMS);
			if (victim === undefined) {
				throw tooMany(MAX_STREAMS);
			}
			open.delete(victim.response);
			victim.response.destroy();
		}
		open.set(response, { holder: [owner], isIdle: false, response });
		response.writeHead(200, { "Content-Type": "text/event-stream", "X-Accel-Buffering": "no" });
		const timer = setInterval(() => response.write(":\n\n"), KEEP_ALIVE);
		response.once("close", () => {
			clearInterval(timer);
			open.delete(response);
		});
	};
}

/** Answers a request with the JSON-RPC response of an error. */
export function answerRpc(outgoing: ServerResponse, { status, headers, response }: GatewayError): void {
	outgoing.writeHead(status, { ...HEADERS, ...headers, "Content-Type": "application/json" });
	outgoing.end(JSON.stringify(response));
}
