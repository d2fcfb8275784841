import {
	type AuthProvider,
	auth,
	extractWWWAuthenticateParams,
	type InsufficientScopeError,
	type StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import { ServerError } from "../../core/errors.js";
import type { OAuthSettings } from "./auth-config.js";
import { makeOAuthClient } from "./oauth-client.js";
import type { SignIns } from "./sign-ins.js";

type UnauthorizedContext = Parameters<NonNullable<AuthProvider["onUnauthorized"]>>[0];

/** Characters of the scopes that a server asks for. */
const MAX_SCOPE = 500;

/** RFC 6749, section 3.3. */
const SCOPE_TOKEN = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

/** Characters of a 401's body that are quoted: some servers answer with whole pages. */
const MAX_BODY = 300;

interface SignedInOptions {
	readonly id: string;
	readonly url: string;
	readonly settings: OAuthSettings | undefined;
	readonly signIns: SignIns;
	/** The command to sign in, without the server's id. */
	readonly how: string;
}

/**
 * Sends the token of the sign-in at a server, if there is one, and refreshes it when the server rejects it. A sign-in by another
 * process counts from the next request on.
 */
export class SignedIn implements AuthProvider {
	readonly #options: SignedInOptions;
	/** The token of the last request. */
	#sent: string | undefined;
	/** Requests that fail at the same time share a refresh: a refresh token works once. */
	#renewing: Promise<void> | undefined;

	constructor(options: SignedInOptions) {
		this.#options = options;
	}

	async token(): Promise<string | undefined> {
		this.#sent = await this.#stored();
		return this.#sent;
	}

	/** Whether the sign-in has changed since the last request. */
	async isOutdated(): Promise<boolean> {
		// A file that cannot be read is no sign-in: a request would fail with that.
		return (await this.#stored().catch(() => this.#sent)) !== this.#sent;
	}

	async #stored(): Promise<string | undefined> {
		const { signIns, id, url } = this.#options;
		return (await signIns.read(id, url))?.tokens.access_token;
	}

	/** Rejects with ServerError "permission-denied" if a person has to sign in. */
	async onUnauthorized(context: UnauthorizedContext): Promise<void> {
		this.#renewing ??= this.#renew(context).finally(() => {
			this.#renewing = undefined;
		});
		await this.#renewing;
	}

	/**
	 * Keeps the scopes that a call lacked for the next sign-in (MCP 2026-07-28, Authorization, Scope Challenge Handling).
	 *
	 * @returns the error for the caller
	 */
	async missScope({ requiredScope = "" }: InsufficientScopeError): Promise<ServerError> {
		const { signIns, id, url, how } = this.#options;
		const missing = requiredScope.slice(0, MAX_SCOPE).split(" ");
		const missingScope = missing.filter((each) => SCOPE_TOKEN.test(each)).join(" ");
		const record = await signIns.read(id, url);
		if (record !== undefined) {
			await signIns.write(id, { ...record, missingScope });
		}
		return new ServerError(
			"permission-denied",
			`HTTP 403: insufficient scope, required: ${missingScope}. To sign in: ${how} ${id}`,
		);
	}

	async #renew({ response, serverUrl, fetchFn }: UnauthorizedContext): Promise<void> {
		const { signIns, id, url, settings, how } = this.#options;
		const record = await signIns.read(id, url);
		const body = (await response.text()).replace(/\s+/g, " ").trim().slice(0, MAX_BODY);
		const refused = (reason: string): ServerError =>
			new ServerError("permission-denied", `HTTP 401: ${reason}. To sign in: ${how} ${id}`);
		if (record === undefined) {
			throw refused(body || "unauthorized");
		}
		const { client, tokens } = record;
		const renewed = makeOAuthClient({
			settings,
			client,
			tokens: tokens as StoredOAuthTokens,
			onAuthorize: () => {
				throw new Error("the sign-in has ended");
			},
			onTokens: (changed) => signIns.write(id, { url, client, tokens: changed }),
		});
		try {
			const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
			await auth(renewed, {
				serverUrl,
				fetchFn,
				...(resourceMetadataUrl && { resourceMetadataUrl }),
				...(scope && { scope }),
			});
		} catch (error) {
			throw refused((error as Error).message);
		}
	}
}
