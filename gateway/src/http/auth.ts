import type { IncomingMessage } from "node:http";
import { localhostAllowedOrigins, validateHostHeader, validateOriginHeader } from "@modelcontextprotocol/server";
import type { Access } from "../clients/access.js";
import { isLoopback, namesOf } from "../config/listen-address.js";
import { NO_TOKEN_NAME, type TokenRecord, type TokenStore } from "../config/token-store.js";
import { RequestRefusal } from "./http-error.js";
import { RequestLimits } from "./limits.js";

export interface RequestGuardOptions {
	/** Where the server listens. Beyond loopback every request needs a token. */
	readonly address: string;
	readonly tokens: TokenStore;
	/** Host names, besides the server's own, by which it may be addressed. */
	readonly allowedHosts: readonly string[];
	/** Host names of sites, besides this machine's, whose pages may use the gateway. */
	readonly allowedOrigins: readonly string[];
	/** Devices whose user-only tools every host sees; `*` for all. */
	readonly userTools: readonly string[];
	readonly maxRequestsPerMinute: number;
	readonly maxWrongTokensPerMinute: number;
}

/** A request that may be served, and on whose behalf. */
export interface Admission {
	readonly access: Access;
	/** The token that was shown; undefined when none is asked for. */
	readonly token: TokenRecord | undefined;
}

/** What a browser's script may read of an answer (MCP "Streamable HTTP"; Authorization). */
const EXPOSED_HEADERS = "Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate, Retry-After";

/** Decides which requests are served: MCP "Security Warning" of Streamable HTTP, and tokens. */
export class RequestGuard {
	readonly #options: RequestGuardOptions;
	readonly #hosts: string[];
	readonly #origins: string[];
	readonly #limits: RequestLimits;

	constructor(options: RequestGuardOptions) {
		this.#options = options;
		this.#hosts = [...namesOf(options.address), ...options.allowedHosts];
		this.#origins = [...localhostAllowedOrigins(), ...options.allowedOrigins];
		this.#limits = new RequestLimits(options);
	}

	/** Whether hosts have to show a token: beyond loopback always, else as soon as there is one. */
	get wantsToken(): boolean {
		return !isLoopback(this.#options.address) || this.#options.tokens.has("host");
	}

	/** Rejects with RequestRefusal: too many requests (429), a foreign Host or Origin (403). */
	async checkSource(request: IncomingMessage): Promise<void> {
		await this.#limits.request(addressOf(request));
		const { host, origin } = request.headers;
		const hostCheck = validateHostHeader(host, this.#hosts);
		if (!hostCheck.ok) {
			throw new RequestRefusal(403, "host", `${hostCheck.message}: not a name of this gateway (allowedHosts)`);
		}
		const originCheck = validateOriginHeader(origin, this.#origins);
		if (!originCheck.ok) {
			throw new RequestRefusal(403, "origin", `${originCheck.message}: not an allowed site (allowedOrigins)`);
		}
	}

	/** CORS: lets the pages of allowed sites read the answers. Origin has been checked. */
	corsHeaders({ headers }: IncomingMessage): Record<string, string> {
		return headers.origin === undefined
			? {}
			: {
					"Access-Control-Allow-Origin": headers.origin,
					"Access-Control-Expose-Headers": EXPOSED_HEADERS,
					Vary: "Origin",
				};
	}

	/** Who is asking. Rejects with RequestRefusal (401) when a token is wanted and the right one is not there. */
	async authenticate(request: IncomingMessage): Promise<Admission> {
		if (!this.wantsToken) {
			return { access: localAccess(this.#options.userTools), token: undefined };
		}
		const secret = /^Bearer +([^ ]+) *$/i.exec(request.headers.authorization ?? "")?.[1];
		const token = secret === undefined ? undefined : this.#options.tokens.verify("host", secret);
		if (token !== undefined) {
			return { access: accessOf(token, this.#options.userTools), token };
		}
		if (secret === undefined) {
			const challenge = { "WWW-Authenticate": 'Bearer realm="xs-mcp-gateway"' };
			throw new RequestRefusal(401, "token", "a bearer token is needed: xs-mcp-gateway token add", challenge);
		}
		await this.#limits.wrongToken(addressOf(request));
		const challenge = { "WWW-Authenticate": 'Bearer realm="xs-mcp-gateway", error="invalid_token"' };
		throw new RequestRefusal(401, "token", "the bearer token is not one of this gateway's", challenge);
	}

	/** Whether what was admitted once would be admitted now: tokens come and go. */
	stillAdmits({ token }: Admission): boolean {
		return token === undefined
			? !this.wantsToken
			: this.#options.tokens.records.some(({ sha256 }) => sha256 === token.sha256);
	}
}

/** What a host reaches of which no token is asked: everything, user-only tools only as configured. */
export function localAccess(userTools: readonly string[]): Access {
	const some = userTools.length > 0 && new Set(userTools);
	return { principal: NO_TOKEN_NAME, userTools: userTools.includes("*") || some };
}

function accessOf(token: TokenRecord, userTools: readonly string[]): Access {
	return {
		principal: token.name,
		...(token.devices && { devices: new Set(token.devices) }),
		userTools: token.userTools === true || localAccess(userTools).userTools,
	};
}

/** The network address a request comes from, for logs and limits. */
export function addressOf(request: IncomingMessage): string {
	return request.socket.remoteAddress ?? "unknown";
}
