import type {
	OAuthClientMetadata,
	OAuthClientProvider,
	OAuthDiscoveryState,
	StoredOAuthClientInformation,
	StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import type { OAuthSettings } from "./auth-config.js";

/** Where a browser returns to. Only a sign-in listens there; a refresh names it, too. */
const NO_REDIRECT = "http://127.0.0.1/callback";

interface OAuthClientOptions {
	readonly settings: Partial<OAuthSettings> | undefined;
	/** The client as it is registered, if it is. */
	readonly client?: StoredOAuthClientInformation | undefined;
	readonly tokens?: StoredOAuthTokens | undefined;
	/** The URL of the listener that a browser is redirected to. */
	readonly redirectUrl?: string;
	readonly state?: string;
	/** Takes the URL at which a person signs in. Throws if there is no person. */
	readonly onAuthorize: (url: URL) => void;
	readonly onTokens?: (tokens: StoredOAuthTokens) => Promise<void>;
}

/** A client of OAuth 2.1 at one server, for the SDK's `auth`: what it learns, it keeps in memory. */
export class OAuthClient implements OAuthClientProvider {
	readonly #options: OAuthClientOptions;
	client: StoredOAuthClientInformation | undefined;
	/** Undefined for a configured client: it is never registered. */
	readonly saveClientInformation?: (client: StoredOAuthClientInformation) => void;
	readonly clientMetadataUrl?: string;
	#tokens: StoredOAuthTokens | undefined;
	#verifier = "";
	#discovery: OAuthDiscoveryState | undefined;

	constructor(options: OAuthClientOptions) {
		this.#options = options;
		const { clientId, clientSecret, clientMetadataUrl } = options.settings ?? {};
		if (clientId === undefined) {
			this.client = options.client;
			this.saveClientInformation = (client) => {
				this.client = client;
			};
		} else {
			this.client = { client_id: clientId, ...(clientSecret !== undefined && { client_secret: clientSecret }) };
		}
		if (clientMetadataUrl !== undefined) {
			this.clientMetadataUrl = clientMetadataUrl;
		}
		this.#tokens = options.tokens;
	}

	get redirectUrl(): string {
		return this.#options.redirectUrl ?? NO_REDIRECT;
	}

	get clientMetadata(): OAuthClientMetadata {
		const { scope } = this.#options.settings ?? {};
		return { client_name: "xs-mcp", redirect_uris: [this.redirectUrl], ...(scope !== undefined && { scope }) };
	}

	state(): string {
		return this.#options.state ?? "";
	}

	clientInformation(): StoredOAuthClientInformation | undefined {
		return this.client;
	}

	tokens(): StoredOAuthTokens | undefined {
		return this.#tokens;
	}

	async saveTokens(tokens: StoredOAuthTokens): Promise<void> {
		this.#tokens = tokens;
		await this.#options.onTokens?.(tokens);
	}

	/** @throws Error if the server names a page that a browser does not get from the web: `file:` opens the person's own files */
	redirectToAuthorization(url: URL): void {
		if (url.protocol !== "https:" && url.protocol !== "http:") {
			throw new Error(`the server names a page for the sign-in that is not on the web (${url.protocol})`);
		}
		this.#options.onAuthorize(url);
	}

	saveCodeVerifier(verifier: string): void {
		this.#verifier = verifier;
	}

	codeVerifier(): string {
		return this.#verifier;
	}

	saveDiscoveryState(state: OAuthDiscoveryState): void {
		this.#discovery = state;
	}

	discoveryState(): OAuthDiscoveryState | undefined {
		return this.#discovery;
	}

	/** The server has rejected some of it: it is not used again. */
	invalidateCredentials(scope: "all" | "client" | "tokens" | "verifier" | "discovery"): void {
		if (scope === "all" || scope === "tokens") {
			this.#tokens = undefined;
		}
		if ((scope === "all" || scope === "client") && this.#options.settings?.clientId === undefined) {
			this.client = undefined;
		}
		if (scope === "all" || scope === "discovery") {
			this.#discovery = undefined;
		}
	}
}
