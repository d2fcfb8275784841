import type { IncomingMessage, ServerResponse } from "node:http";
import { isIP } from "node:net";
import { localhostAllowedOrigins, validateHostHeader, validateOriginHeader } from "@modelcontextprotocol/server";
import ipaddr from "ipaddr.js";
import {
	type Access,
	type AccessGrant,
	accessOf,
	includesRights,
	localAccess,
	SCOPES,
	type TokenRecord,
} from "../config/access.js";
import { hostnamesOf, isLoopback } from "../config/listen-address.js";
import { announcedHostname } from "../devices/announcement.js";
import type { RunningGateway } from "../gateway.js";
import { GatewayError } from "../gateway-error.js";
import {
	type ConsoleSession,
	type ConsoleSessions,
	openConsoleSessions,
	readCookie,
} from "../http/console-sessions.js";
import { type ClientAdmission, type Middleware, makeLimits, mayOperate, type RequestLimits } from "../http/route.js";
import type { Challenge } from "./protected-resource.js";
import type { SignIn } from "./sign-in.js";

/** Advice for a wrong or missing token. */
const CREATE_TOKEN = "(create one: xs-mcp-gateway token add NAME --for client)";

/** Decides which requests are served: MCP "Security Warning" of Streamable HTTP, and tokens. */
export class RequestGuard {
	readonly #gateway: RunningGateway;
	/** Undefined: off. */
	readonly #signIn: SignIn | undefined;
	/** Rejects requests whose Host or Origin is foreign. */
	readonly checkSource: (request: IncomingMessage) => void;
	/** Proxies whose `X-Forwarded-For` is trusted. */
	readonly #proxies: ReturnType<typeof ipaddr.parseCIDR>[];
	readonly #limits: RequestLimits;
	readonly #isLocal: boolean;
	/** The access of clients of this machine without a token. */
	readonly #withoutToken: Access;
	/** Access by token record: its devices are not copied for each request. */
	readonly #accesses = new WeakMap<TokenRecord, Access>();
	/** The access of pages of other origins, by that of the gateway's own. */
	readonly #foreign = new WeakMap<Access, Access>();
	/** Open responses: streams stay open as long as the client wants. */
	readonly #open = new Map<ServerResponse, ClientAdmission>();
	/** People who are signed in to the console. */
	readonly sessions: ConsoleSessions;

	constructor(gateway: RunningGateway, signIn: SignIn | undefined) {
		const { settings } = gateway;
		this.#gateway = gateway;
		this.#signIn = signIn;
		this.sessions = openConsoleSessions(gateway.store);
		// The pages of the gateway itself, at its public URL.
		const own = signIn?.server === undefined ? [] : [new URL(signIn.server.origin).hostname];
		const allowedOrigins = [...settings.allowedOrigins, ...own];
		this.checkSource = makeSourceCheck([settings.httpAddress], settings.allowedHosts, allowedOrigins);
		this.#limits = makeLimits(settings);
		this.#proxies = settings.trustProxy.map((range) =>
			ipaddr.parseCIDR(range.includes("/") ? range : `${range}/${isIP(range) === 6 ? 128 : 32}`),
		);
		this.#isLocal = isLoopback(settings.httpAddress);
		this.#withoutToken = localAccess(settings.userTools);
	}

	/** Whether clients need a token: beyond loopback always, else as soon as there is one. */
	get needsToken(): boolean {
		const isOutside = this.#signIn !== undefined && this.#signIn.server === undefined;
		return !this.#isLocal || isOutside || this.#gateway.tokens.needs("client");
	}

	/**
	 * Admits a request, until its answer is complete or {@link recheck} ends it. Rejects with GatewayError without a valid
	 * token if one is required (401), and after too many requests (429).
	 */
	async admit(request: IncomingMessage, response: ServerResponse): Promise<ClientAdmission> {
		const { authorization = "", origin, "sec-fetch-site": site } = request.headers;
		const secret = /^Bearer +([^ ]+) *$/i.exec(authorization)?.[1];
		// Looked up first: a valid token shows that one is needed, without another read of the store.
		const token = secret === undefined ? undefined : this.#gateway.tokens.verify("client", secret);
		let admission = await (token === undefined ? this.#authenticate(request, secret) : this.#admitToken(token));
		const { access, session } = admission;
		const isPage = (origin ?? site) !== undefined;
		if (isPage && this.isOfForeignPage(request)) {
			const foreign = this.#foreign.get(access) ?? { ...access, isForeignPage: true };
			this.#foreign.set(access, foreign);
			admission = { ...admission, access: foreign };
		} else if ((session ?? (isPage && this.isOfOwnPage(request))) && mayOperate(admission)) {
			// The owner is a person: no flag is needed to restart a device.
			admission = { ...admission, access: { ...access, userTools: true } };
		}
		this.#open.set(response, admission);
		response.on("close", () => this.#open.delete(response));
		return admission;
	}

	/** Ends the answers to clients whose token was removed, lost a right or has expired, and to people who have signed out. */
	recheck(): void {
		for (const [response, admission] of this.#open) {
			if (!this.#stillAdmits(admission)) {
				response.destroy();
			}
		}
	}

	/** Exempts a response from {@link recheck}: its own request changes tokens, perhaps that of its client. */
	exempt(response: ServerResponse): void {
		this.#open.delete(response);
	}

	/** The record of a client's token. Counts the request. Rejects with GatewayError (401, 429). */
	async verify(request: IncomingMessage, secret: string): Promise<TokenRecord> {
		const token = this.#gateway.tokens.verify("client", secret);
		if (token === undefined) {
			throw await this.#wrongToken(request);
		}
		await this.#admitToken(token);
		return token;
	}

	/** Counts a request that may try a secret. Rejects with GatewayError (429), also after too many wrong ones. */
	async checkAttempts(request: IncomingMessage): Promise<void> {
		await this.#limits.attempt(this.addressOf(request));
	}

	/** Counts a request without a token. Rejects with GatewayError (429). */
	readonly limitRate: Middleware = async (c, next) => {
		await this.#checkRate(c.env.incoming);
		await next();
	};

	/** The network address of a client: the nearest that is not a trusted proxy. Entries of the header before it may be forged. */
	addressOf({ socket, headers }: IncomingMessage): string {
		let address = socket.remoteAddress ?? "unknown";
		const forwarded = headers["x-forwarded-for"]?.toString().split(",") ?? [];
		for (let hop = forwarded.pop(); hop && this.#isProxy(address); hop = forwarded.pop()) {
			if (isIP(hop.trim()) === 0) {
				break;
			}
			address = hop.trim();
		}
		return address;
	}

	/** Whether the client speaks TLS: with the gateway, or with a trusted proxy that says so. */
	isSecure({ socket, headers }: IncomingMessage): boolean {
		const said = headers["x-forwarded-proto"]?.toString().split(",").pop()?.trim();
		return "encrypted" in socket || (said === "https" && this.#isProxy(socket.remoteAddress ?? ""));
	}

	/** Whether a page that the gateway did not serve makes the request: its Origin is another than the one asked. */
	isOfForeignPage(request: IncomingMessage): boolean {
		const { host = "", origin } = request.headers;
		const scheme = this.isSecure(request) ? "https" : "http";
		return origin !== undefined && origin.toLowerCase() !== `${scheme}://${host}`.toLowerCase();
	}

	/**
	 * Whether the gateway's own page makes the request, so that its cookie counts. Browsers name the Origin of everything that
	 * changes something; a GET without one is at least not from a page that could read the answer.
	 */
	isOfOwnPage(request: IncomingMessage): boolean {
		const { origin, "sec-fetch-site": site } = request.headers;
		if (origin !== undefined) {
			return !this.isOfForeignPage(request);
		}
		return request.method === "GET" && (site === undefined || site === "same-origin");
	}

	/** The token of the person who is signed in to the console; undefined without a sign-in, or if another site's page sends the request. */
	signedIn(request: IncomingMessage): TokenRecord | undefined {
		const session = this.#sessionOf(request);
		return session && this.#gateway.tokens.current(session.token);
	}

	/** The rejection of a client whose access token lacks a scope: MCP "Scope Challenge Handling". */
	lacksScope(request: IncomingMessage, scope: string): GatewayError {
		const description = "the access token lacks a scope";
		return this.#rejection(request, "forbidden", `${description}: ${scope}`, {
			error: "insufficient_scope",
			description,
			scope,
		});
	}

	async #wrongToken(request: IncomingMessage): Promise<GatewayError> {
		await this.checkAttempts(request);
		await this.#limits.wrongToken(this.addressOf(request));
		return this.#invalidToken(request, `unknown bearer token ${CREATE_TOKEN}`);
	}

	#invalidToken(request: IncomingMessage, description: string): GatewayError {
		return this.#rejection(request, "unauthorized", description, { error: "invalid_token", description });
	}

	#rejection(
		{ url }: IncomingMessage,
		code: "unauthorized" | "forbidden",
		message: string,
		challenge: Challenge = {},
	): GatewayError {
		const error = challenge.error === undefined ? "" : `, error="${challenge.error}"`;
		const header = this.#signIn?.resource.challenge(pathOf(url), challenge) ?? `Bearer realm="xs-mcp-gateway"${error}`;
		return new GatewayError(code, message, { headers: { "WWW-Authenticate": header } });
	}

	/** Admits a request without a token of the store. @param secret its bearer token; undefined if it has none */
	async #authenticate(request: IncomingMessage, secret: string | undefined): Promise<ClientAdmission> {
		const signIn = this.#signIn;
		if (!this.needsToken) {
			await this.#checkRate(request);
			return { access: this.#withoutToken, owner: this.addressOf(request), token: undefined };
		}
		if (secret !== undefined) {
			const grant = signIn && (await this.#grantOf(request, secret, signIn));
			if (grant !== undefined) {
				return await this.#admitGrant(request, grant);
			}
			throw await this.#wrongToken(request);
		}
		const session = this.#sessionOf(request);
		const signedIn = session && this.#gateway.tokens.current(session.token);
		if (signedIn !== undefined) {
			return await this.#admitToken(signedIn, session);
		}
		await this.#checkRate(request);
		throw this.#rejection(request, "unauthorized", `missing bearer token ${CREATE_TOKEN}`);
	}

	async #admitToken(token: TokenRecord, session?: ConsoleSession): Promise<ClientAdmission> {
		const owner = `token ${token.name}`;
		await this.#limits.request(owner);
		this.#gateway.tokens.used(token);
		const { userTools } = this.#gateway.settings;
		const access = this.#accesses.get(token) ?? accessOf(token.name, token, userTools, token.sha256);
		this.#accesses.set(token, access);
		return { access, owner, token, session };
	}

	/** The grant of an access token; undefined if the secret is not an access token. Rejects with GatewayError (401, 503). */
	async #grantOf(request: IncomingMessage, secret: string, { issuer }: SignIn): Promise<AccessGrant | undefined> {
		const grant = await issuer.verify(secret).catch(async (error: Error) => {
			await this.checkAttempts(request);
			throw error;
		});
		if (grant !== "expired") {
			return grant;
		}
		// Not counted as a wrong token: it was a good one.
		await this.#checkRate(request);
		throw this.#invalidToken(request, "the access token has expired");
	}

	/** Rejects with GatewayError if the token is for another resource (401), or allows nothing (403). */
	async #admitGrant(request: IncomingMessage, grant: AccessGrant): Promise<ClientAdmission> {
		const { tokens, settings } = this.#gateway;
		const { principal, audience, limits, token } = grant;
		const owner = `token ${principal}`;
		await this.#limits.request(owner);
		if (this.#signIn?.resource.covers(audience, pathOf(request.url)) !== true) {
			throw this.#invalidToken(request, "the access token is for another resource");
		}
		if (limits === undefined) {
			throw this.lacksScope(request, SCOPES.control);
		}
		if (token !== undefined) {
			tokens.used(token);
		}
		const access = accessOf(principal, limits, settings.userTools, token?.sha256);
		return { access, owner, token, grant };
	}

	/** The console's session of a request that the gateway's own page makes. */
	#sessionOf(request: IncomingMessage): ConsoleSession | undefined {
		const cookie = readCookie(request);
		return cookie !== undefined && this.isOfOwnPage(request) ? this.sessions.find(cookie) : undefined;
	}

	async #checkRate(request: IncomingMessage): Promise<void> {
		await this.#limits.request(this.addressOf(request));
	}

	#isProxy(address: string): boolean {
		const ranges = { proxy: this.#proxies };
		return isIP(address) !== 0 && ipaddr.subnetMatch(ipaddr.process(address), ranges, "") === "proxy";
	}

	#stillAdmits({ token, session, grant }: ClientAdmission): boolean {
		if (grant !== undefined) {
			return grant.isCurrent();
		}
		if (token === undefined) {
			return !this.needsToken;
		}
		const isSignedOut = session !== undefined && !this.sessions.has(session);
		const now = this.#gateway.tokens.current(token.sha256);
		return !isSignedOut && now !== undefined && (now === token || includesRights(now, token));
	}
}

function pathOf(url = ""): string {
	return url.split("?")[0] as string;
}

/**
 * Makes a check that rejects cross-site requests and DNS rebinding: MCP "Security Warning" of Streamable HTTP.
 *
 * @param addresses where the server listens
 * @param allowedHosts further hostnames of the server
 * @param allowedOrigins hostnames of further sites whose pages may use the gateway
 * @returns throws GatewayError if Host or Origin of a request is foreign
 */
export function makeSourceCheck(
	addresses: readonly string[],
	allowedHosts: readonly string[],
	allowedOrigins: readonly string[],
): (request: IncomingMessage) => void {
	// On loopback nothing is announced, and another machine could answer for these names.
	const isOutside = addresses.some((address) => !isLoopback(address));
	const announced = isOutside ? ["http", "https"].map((scheme) => `${announcedHostname(scheme)}.local`) : [];
	const hostnames = [...addresses.flatMap(hostnamesOf), ...announced, ...allowedHosts];
	const origins = [...localhostAllowedOrigins(), ...allowedOrigins];
	/** The last good Host: a client sends the same one with each request. */
	let goodHost: string | undefined;
	return ({ url = "", headers: { host, origin } }) => {
		if (host !== undefined && host === goodHost && origin === undefined && url.startsWith("/")) {
			return;
		}
		// RFC 9112 §3.2.2: the host in a target that is a whole URL counts, not the header.
		const target = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(url)?.[1];
		for (const name of target === undefined ? [host] : [host, target]) {
			// A name with a dot at its end is the same name: RFC 1034 §3.1.
			const hostCheck = validateHostHeader(name?.replace(/\.(?=:\d+$|$)/, ""), hostnames);
			if (!hostCheck.ok) {
				throw new GatewayError("host", `${hostCheck.message}: not a name of this gateway (allowedHosts)`);
			}
		}
		goodHost = host;
		const originCheck = validateOriginHeader(origin, origins);
		if (!originCheck.ok) {
			throw new GatewayError("origin", `${originCheck.message}: not an allowed site (allowedOrigins)`);
		}
	};
}
