import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import {
	type AuthProvider,
	auth,
	extractWWWAuthenticateParams,
	type InsufficientScopeError,
	type OAuthClientProvider,
	type OAuthDiscoveryState,
	type StoredOAuthClientInformation,
	type StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import * as z from "zod";
import { ServerError, shared } from "../core/errors.js";
import { present } from "../core/offers.js";
import { jsonIn } from "../core/received.js";
import { replaceFile } from "../core/replace-file.js";
import { statusMessage } from "./careful-fetch.js";
import type { OAuthSettings, ServerConfig } from "./server-config.js";

/** Stored result of a sign-in at a server. The members of OAuth are those of the SDK, which checks the issuers that it stores in them. */
const RECORD = z.object({
	url: z.string(),
	client: z.looseObject({ client_id: z.string() }),
	tokens: z.looseObject({ access_token: z.string(), token_type: z.string(), scope: z.string().optional() }),
	/** Scopes that a call lacked, separated by spaces: the next sign-in asks for them, too. */
	missingScope: z.string().optional(),
});
type SignInRecord = z.output<typeof RECORD>;

/** The sign-ins at upstream servers: a file for each server, readable by its owner only. */
export class SignIns {
	readonly #folder: string;

	constructor(folder: string) {
		this.#folder = folder;
	}

	/**
	 * The sign-in at a server; undefined if there was none at this URL: a token is sent to no other URL.
	 *
	 * Rejects with Error if the file cannot be read.
	 */
	async read(id: string, url: string): Promise<SignInRecord | undefined> {
		const path = this.#pathOf(id);
		const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
			if (error.code !== "ENOENT") {
				throw error;
			}
		});
		if (text === undefined) {
			return undefined;
		}
		const record = RECORD.safeParse(jsonIn(text));
		if (!record.success) {
			throw new Error(`${path}: not a sign-in: sign in again`);
		}
		return record.data.url === url ? record.data : undefined;
	}

	async write(id: string, record: SignInRecord): Promise<void> {
		await mkdir(this.#folder, { recursive: true, mode: 0o700 });
		await replaceFile(this.#pathOf(id), `${JSON.stringify(record, undefined, "\t")}\n`);
	}

	async remove(id: string): Promise<void> {
		await rm(this.#pathOf(id), { force: true });
	}

	/** Ids of servers have no characters that mean something in a path. */
	#pathOf(id: string): string {
		return join(this.#folder, `${id}.json`);
	}
}

type Renew = NonNullable<AuthProvider["onUnauthorized"]>;
type UnauthorizedContext = Parameters<Renew>[0];

const MAX_SCOPE = 500;

/** RFC 6749, section 3.3. */
const SCOPE_TOKEN = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

/**
 * Sends the token of the sign-in at a server, if there is one, and refreshes it when the server rejects it. A sign-in by another
 * process takes effect with the next request.
 */
export class SignedIn implements AuthProvider {
	readonly #config: ServerConfig;
	readonly #signIns: SignIns;
	readonly #how: string;
	#sent: string | undefined;
	/**
	 * Rejects with ServerError "permission-denied" if a person has to sign in. Requests that fail at the same time share a refresh,
	 * because a refresh token works once.
	 */
	readonly onUnauthorized: Renew = shared((context: UnauthorizedContext) => this.#renew(context));

	/**
	 * @param folder of the sign-ins
	 * @param how the command to sign in, for errors; the server's id is appended
	 */
	constructor(config: ServerConfig, folder: string, how: string) {
		this.#config = config;
		this.#signIns = new SignIns(folder);
		this.#how = `${how} ${config.id}`;
	}

	async token(): Promise<string | undefined> {
		this.#sent = await this.#stored();
		return this.#sent;
	}

	/** Whether the sign-in has changed since the last request. */
	async isOutdated(): Promise<boolean> {
		// An unreadable file is not a new sign-in: a request would fail because of it.
		return (await this.#stored().catch(() => this.#sent)) !== this.#sent;
	}

	#read(): Promise<SignInRecord | undefined> {
		return this.#signIns.read(this.#config.id, this.#config.url);
	}

	async #stored(): Promise<string | undefined> {
		return (await this.#read())?.tokens.access_token;
	}

	/**
	 * Stores scopes that a call lacked for the next sign-in (MCP 2026-07-28, Authorization, Scope Challenge Handling).
	 *
	 * @returns the error for the caller
	 */
	async missScope({ requiredScope = "" }: InsufficientScopeError): Promise<ServerError> {
		const missing = requiredScope.slice(0, MAX_SCOPE).split(" ");
		const missingScope = missing.filter((each) => SCOPE_TOKEN.test(each)).join(" ");
		const record = await this.#read();
		if (record !== undefined) {
			await this.#signIns.write(this.#config.id, { ...record, missingScope });
		}
		return this.#refused(`HTTP 403: insufficient scope, required: ${missingScope}`);
	}

	#refused(reason: string): ServerError {
		return new ServerError("permission-denied", `${reason}. To sign in: ${this.#how}`);
	}

	async #renew({ response, serverUrl, fetchFn }: UnauthorizedContext): Promise<void> {
		const { id, url, oauth: settings } = this.#config;
		const record = await this.#read();
		const body = await response.text();
		if (record === undefined) {
			throw this.#refused(statusMessage(401, "", body.trim() || "unauthorized"));
		}
		const { client, tokens } = record;
		const onAuthorize = (): never => {
			throw new Error("the sign-in has ended");
		};
		const renewed = makeOAuthClient(settings, onAuthorize, { client, tokens: tokens as StoredOAuthTokens });
		try {
			const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
			await auth(renewed, { serverUrl, fetchFn, ...present({ resourceMetadataUrl, scope }) });
		} catch (error) {
			throw this.#refused(`HTTP 401: ${(error as Error).message}`);
		}
		await this.#signIns.write(id, { url, client, tokens: { ...(renewed.tokens() ?? tokens) } });
	}
}

/** Redirect URI of a client that only refreshes tokens. Nothing listens there. */
const NO_REDIRECT = "http://127.0.0.1/callback";

/** Client of OAuth 2.1 at one server. `client`: as it is registered. */
export type OAuthClient = Omit<OAuthClientProvider, "tokens"> & {
	client: StoredOAuthClientInformation | undefined;
	tokens(): StoredOAuthTokens | undefined;
};

/**
 * Makes a client of OAuth 2.1 at one server, for the SDK's `auth`. It keeps its state in memory.
 *
 * @param onAuthorize gets the URL at which a person signs in. Throws if there is no person
 * @param known the client as it is registered, and its tokens
 * @param listener where the browser returns
 */
export function makeOAuthClient(
	settings: Partial<OAuthSettings> | undefined,
	onAuthorize: (url: URL) => void,
	known: { readonly client?: StoredOAuthClientInformation; readonly tokens?: StoredOAuthTokens } = {},
	{ url: redirectUrl, state } = { url: NO_REDIRECT, state: "" },
): OAuthClient {
	const { clientId, clientSecret, clientMetadataUrl, scope } = settings ?? {};
	const configured = clientId && { client_id: clientId, ...(clientSecret && { client_secret: clientSecret }) };
	let { tokens } = known;
	let verifier = "";
	let discovery: OAuthDiscoveryState | undefined;
	const oauthClient: OAuthClient = {
		client: configured || known.client,
		redirectUrl,
		clientMetadata: { client_name: "xs-mcp", redirect_uris: [redirectUrl], ...(scope && { scope }) },
		...(clientMetadataUrl && { clientMetadataUrl }),
		state: () => state,
		clientInformation: () => oauthClient.client,
		// A configured client is never registered.
		...(!configured && {
			saveClientInformation: (client: StoredOAuthClientInformation) => {
				oauthClient.client = client;
			},
		}),
		tokens: () => tokens,
		saveTokens(saved) {
			tokens = saved;
		},
		/** @throws Error if the server's page is not on the web: a `file:` URL would open the person's own files */
		redirectToAuthorization(url) {
			if (url.protocol !== "https:" && url.protocol !== "http:") {
				throw new Error(`the server names a page for the sign-in that is not on the web (${url.protocol})`);
			}
			onAuthorize(url);
		},
		saveCodeVerifier(saved) {
			verifier = saved;
		},
		codeVerifier: () => verifier,
		saveDiscoveryState(saved) {
			discovery = saved;
		},
		discoveryState: () => discovery,
		/** Drops credentials that the server has rejected. */
		invalidateCredentials(rejected) {
			const isRejected = (part: typeof rejected): boolean => rejected === "all" || rejected === part;
			tokens = isRejected("tokens") ? undefined : tokens;
			discovery = isRejected("discovery") ? undefined : discovery;
			oauthClient.client = isRejected("client") && !configured ? undefined : oauthClient.client;
		},
	};
	return oauthClient;
}
