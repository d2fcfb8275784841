import type { IncomingMessage, ServerResponse } from "node:http";
import { localhostAllowedOrigins, validateHostHeader, validateOriginHeader } from "@modelcontextprotocol/server";
import type { Access } from "../clients/access.js";
import { isLoopback, namesOf } from "../config/listen-address.js";
import { NO_TOKEN_NAME, type TokenRecord, type TokenStore } from "../config/token-store.js";
import { HttpError } from "./http-error.js";
import { RequestLimits, type RequestLimitsOptions } from "./limits.js";

export interface RequestGuardOptions extends RequestLimitsOptions {
	/** Where the server listens. Beyond loopback every request needs a token. */
	readonly address: string;
	readonly tokens: TokenStore;
	/** Hostnames, besides the server's own, by which it may be addressed. */
	readonly allowedHosts: readonly string[];
	/** Hostnames of sites, besides this machine's, whose pages may use the gateway. */
	readonly allowedOrigins: readonly string[];
	/** Devices whose user-only tools every client sees; `*` for all. */
	readonly userTools: readonly string[];
}

/** A request that may be served, and on whose behalf. */
export interface Admission {
	readonly access: Access;
	/** The token that was shown; undefined if none is needed. */
	readonly token: TokenRecord | undefined;
}

/** Decides which requests are served: MCP "Security Warning" of Streamable HTTP, and tokens. */
export class RequestGuard {
	readonly #options: RequestGuardOptions;
	readonly #hosts: string[];
	readonly #origins: string[];
	readonly #limits: RequestLimits;
	/** Answers that are not complete: streams stay open for as long as the client likes. */
	readonly #open = new Map<ServerResponse, Admission>();

	constructor(options: RequestGuardOptions) {
		this.#options = options;
		this.#hosts = [...namesOf(options.address), ...options.allowedHosts];
		this.#origins = [...localhostAllowedOrigins(), ...options.allowedOrigins];
		this.#limits = new RequestLimits(options);
	}

	/** Whether clients have to show a token: beyond loopback always, else as soon as there is one. */
	get wantsToken(): boolean {
		return !isLoopback(this.#options.address) || this.#options.tokens.has("host");
	}

	/** Rejects with HttpError: too many requests (429), a foreign Host or Origin (403). */
	async checkSource(request: IncomingMessage): Promise<void> {
		await this.#limits.request(addressOf(request));
		const { host, origin } = request.headers;
		const hostCheck = validateHostHeader(host, this.#hosts);
		if (!hostCheck.ok) {
			throw new HttpError(403, "host", `${hostCheck.message}: not a name of this gateway (allowedHosts)`);
		}
		const originCheck = validateOriginHeader(origin, this.#origins);
		if (!originCheck.ok) {
			throw new HttpError(403, "origin", `${originCheck.message}: not an allowed site (allowedOrigins)`);
		}
	}

	/**
	 * Admits a request, until its answer is complete or {@link recheck} ends it. Rejects with HttpError (401) if a token is
	 * needed and the request has no valid one.
	 */
	async admit(request: IncomingMessage, response: ServerResponse): Promise<Admission> {
		const admission = await this.#authenticate(request);
		this.#open.set(response, admission);
		response.once("close", () => this.#open.delete(response));
		return admission;
	}

	/** Ends the answers to clients whose token was removed. */
	recheck(): void {
		for (const [response, admission] of this.#open) {
			if (!this.#stillAdmits(admission)) {
				response.destroy();
			}
		}
	}

	async #authenticate(request: IncomingMessage): Promise<Admission> {
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
			throw new HttpError(401, "token", "a bearer token is needed: xs-mcp-gateway token add", challenge);
		}
		await this.#limits.wrongToken(addressOf(request));
		const challenge = { "WWW-Authenticate": 'Bearer realm="xs-mcp-gateway", error="invalid_token"' };
		throw new HttpError(401, "token", "the bearer token is not one of this gateway's", challenge);
	}

	#stillAdmits({ token }: Admission): boolean {
		return token === undefined
			? !this.wantsToken
			: this.#options.tokens.records.some(({ sha256 }) => sha256 === token.sha256);
	}
}

/** What a client reaches without a token: every device, user-only tools only as configured. */
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
