import type { IncomingMessage, ServerResponse } from "node:http";
import type { Access } from "../../catalog/access.js";
import { isLoopback } from "../../config/listen-address.js";
import { NO_TOKEN_NAME, type TokenRecord, type TokenStore } from "../../config/token-store.js";
import type { TokenUses } from "../../config/token-uses.js";
import { ClientAddresses } from "../server/client-address.js";
import { readCookie } from "../server/console-cookie.js";
import { type ConsoleSession, ConsoleSessions } from "../server/console-sessions.js";
import { HttpError } from "../server/http-error.js";
import { RequestLimits, type RequestLimitsOptions } from "../server/limits.js";
import type { Admission } from "../server/route.js";
import { isOfForeignPage, isOfOwnPage, SourceCheck, type SourceCheckOptions } from "../server/source-check.js";

interface RequestGuardOptions extends RequestLimitsOptions, SourceCheckOptions {
	/** Where the server listens. Beyond loopback every request needs a token. */
	readonly address: string;
	readonly tokens: TokenStore;
	/** When tokens were last used. */
	readonly uses: TokenUses;
	/** Addresses and CIDR ranges of proxies whose `X-Forwarded-For` is trusted. */
	readonly trustProxy: readonly string[];
	/** Devices whose user-only tools every client sees; `*` for all. */
	readonly userTools: readonly string[];
}

/** Decides which requests are served: MCP "Security Warning" of Streamable HTTP, and tokens. */
export class RequestGuard {
	readonly #options: RequestGuardOptions;
	readonly #source: SourceCheck;
	readonly #limits: RequestLimits;
	readonly #addresses: ClientAddresses;
	/** Open responses: streams stay open as long as the client wants. */
	readonly #open = new Map<ServerResponse, Admission>();
	/** People who are signed in to the console. */
	readonly sessions = new ConsoleSessions();

	constructor(options: RequestGuardOptions) {
		this.#options = options;
		this.#source = new SourceCheck([options.address], options);
		this.#limits = new RequestLimits(options);
		this.#addresses = new ClientAddresses(options.trustProxy);
	}

	/** Whether clients need a token: beyond loopback always, else as soon as there is one. */
	get needsToken(): boolean {
		return !isLoopback(this.#options.address) || this.#options.tokens.needs("client");
	}

	/** The network address that a request comes from, for logs and limits. */
	addressOf(request: IncomingMessage): string {
		return this.#addresses.of(request);
	}

	/** Whether the client speaks TLS, with the gateway or with a trusted proxy before it. */
	isSecure(request: IncomingMessage): boolean {
		return this.#addresses.isSecure(request);
	}

	/** @throws HttpError (403) if Host or Origin is foreign */
	checkSource(request: IncomingMessage): void {
		this.#source.check(request);
	}

	/**
	 * Admits a request, until its answer is complete or {@link recheck} ends it. Rejects with HttpError without a valid
	 * token if one is required (401), and after too many requests (429).
	 */
	async admit(request: IncomingMessage, response: ServerResponse): Promise<Admission> {
		const { access, token, session } = await this.#authenticate(request);
		const isForeign = isOfForeignPage(request, this.isSecure(request));
		const admission = { access: { ...access, ...(isForeign && { isForeignPage: true }) }, token, session };
		this.#open.set(response, admission);
		response.once("close", () => this.#open.delete(response));
		return admission;
	}

	/** Ends the answers to clients whose token was removed or has expired, and to people who have signed out. */
	recheck(): void {
		for (const [response, admission] of this.#open) {
			if (!this.#stillAdmits(admission)) {
				response.destroy();
			}
		}
	}

	/** The record of a client's token. Counts the request. Rejects with HttpError (401, 429). */
	async verify(request: IncomingMessage, secret: string): Promise<TokenRecord> {
		const token = this.#options.tokens.verify("client", secret);
		if (token !== undefined) {
			await this.#limits.requestWithToken(token.name);
			this.#options.uses.used(token);
			return token;
		}
		const address = this.addressOf(request);
		await this.#limits.request(address);
		await this.#limits.wrongToken(address);
		const challenge = { "WWW-Authenticate": 'Bearer realm="xs-mcp-gateway", error="invalid_token"' };
		throw new HttpError(401, "token", "unknown bearer token", challenge);
	}

	async #authenticate(request: IncomingMessage): Promise<Admission> {
		const { userTools } = this.#options;
		if (!this.needsToken) {
			await this.#limits.request(this.addressOf(request));
			return { access: localAccess(userTools), token: undefined };
		}
		const secret = /^Bearer +([^ ]+) *$/i.exec(request.headers.authorization ?? "")?.[1];
		if (secret !== undefined) {
			const token = await this.verify(request, secret);
			return { access: accessOf(token, userTools), token };
		}
		const session = this.#sessionOf(request);
		const token = session && this.#options.tokens.current(session.token);
		if (token !== undefined) {
			await this.#limits.requestWithToken(token.name);
			this.#options.uses.used(token);
			return { access: accessOf(token, userTools), token, session };
		}
		await this.#limits.request(this.addressOf(request));
		throw new HttpError(401, "token", "missing bearer token (create one: xs-mcp-gateway token add NAME --for client)", {
			"WWW-Authenticate": 'Bearer realm="xs-mcp-gateway"',
		});
	}

	/** The console's session of a request that the gateway's own page makes. */
	#sessionOf(request: IncomingMessage): ConsoleSession | undefined {
		const cookie = readCookie(request);
		return cookie !== undefined && isOfOwnPage(request, this.isSecure(request))
			? this.sessions.find(cookie)
			: undefined;
	}

	#stillAdmits({ token, session }: Admission): boolean {
		if (token === undefined) {
			return !this.needsToken;
		}
		const isSignedOut = session !== undefined && !this.sessions.has(session);
		return !isSignedOut && this.#options.tokens.current(token.sha256) !== undefined;
	}
}

/** The access of a client without a token: every device, user-only tools only as configured. */
export function localAccess(userTools: readonly string[]): Access {
	const some = userTools.length > 0 && new Set(userTools);
	return { principal: NO_TOKEN_NAME, userTools: userTools.includes("*") || some };
}

function accessOf(token: TokenRecord, userTools: readonly string[]): Access {
	return {
		principal: token.name,
		...(token.devices && { devices: new Set(token.devices) }),
		...(token.readOnly && { readOnly: true }),
		userTools: token.userTools === true || localAccess(userTools).userTools,
	};
}
