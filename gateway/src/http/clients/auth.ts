import type { IncomingMessage, ServerResponse } from "node:http";
import type { Access } from "../../catalog/access.js";
import { isLoopback } from "../../config/listen-address.js";
import { NO_TOKEN_NAME, type TokenRecord, type TokenStore } from "../../config/token-store.js";
import { ClientAddresses } from "../server/client-address.js";
import { HttpError } from "../server/http-error.js";
import { RequestLimits, type RequestLimitsOptions } from "../server/limits.js";
import type { Admission } from "../server/route.js";
import { isOfForeignPage, SourceCheck, type SourceCheckOptions } from "../server/source-check.js";

interface RequestGuardOptions extends RequestLimitsOptions, SourceCheckOptions {
	/** Where the server listens. Beyond loopback every request needs a token. */
	readonly address: string;
	readonly tokens: TokenStore;
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

	/** @throws HttpError (403) if Host or Origin is foreign */
	checkSource(request: IncomingMessage): void {
		this.#source.check(request);
	}

	/**
	 * Admits a request, until its answer is complete or {@link recheck} ends it. Rejects with HttpError without a valid
	 * token if one is required (401), and after too many requests (429).
	 */
	async admit(request: IncomingMessage, response: ServerResponse): Promise<Admission> {
		const { access, token } = await this.#authenticate(request);
		const admission = { access: { ...access, ...(isOfForeignPage(request) && { isForeignPage: true }) }, token };
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
		const address = this.addressOf(request);
		if (!this.needsToken) {
			await this.#limits.request(address);
			return { access: localAccess(this.#options.userTools), token: undefined };
		}
		const secret = /^Bearer +([^ ]+) *$/i.exec(request.headers.authorization ?? "")?.[1];
		const token = secret === undefined ? undefined : this.#options.tokens.verify("client", secret);
		if (token !== undefined) {
			await this.#limits.requestWithToken(token.name);
			return { access: accessOf(token, this.#options.userTools), token };
		}
		await this.#limits.request(address);
		if (secret === undefined) {
			const challenge = { "WWW-Authenticate": 'Bearer realm="xs-mcp-gateway"' };
			throw new HttpError(
				401,
				"token",
				"missing bearer token (create one: xs-mcp-gateway token add NAME --for client)",
				challenge,
			);
		}
		await this.#limits.wrongToken(address);
		const challenge = { "WWW-Authenticate": 'Bearer realm="xs-mcp-gateway", error="invalid_token"' };
		throw new HttpError(401, "token", "unknown bearer token", challenge);
	}

	#stillAdmits({ token }: Admission): boolean {
		return token === undefined
			? !this.needsToken
			: this.#options.tokens.records.some(({ sha256 }) => sha256 === token.sha256);
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
		userTools: token.userTools === true || localAccess(userTools).userTools,
	};
}
