import type {
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
}

/** Client of OAuth 2.1 at one server. `client`: as it is registered. */
export type OAuthClient = Omit<OAuthClientProvider, "tokens"> & {
	client: StoredOAuthClientInformation | undefined;
	tokens(): StoredOAuthTokens | undefined;
};

/** Makes a client of OAuth 2.1 at one server, for the SDK's `auth`: what it learns, it keeps in memory. */
export function makeOAuthClient(options: OAuthClientOptions): OAuthClient {
	const { redirectUrl = NO_REDIRECT, state = "", onAuthorize } = options;
	const { clientId, clientSecret, clientMetadataUrl, scope } = options.settings ?? {};
	const configured = clientId && { client_id: clientId, ...(clientSecret && { client_secret: clientSecret }) };
	let { tokens } = options;
	let verifier = "";
	let discovery: OAuthDiscoveryState | undefined;
	const oauthClient: OAuthClient = {
		client: configured || options.client,
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
		/** @throws Error if the server names a page that a browser does not get from the web: `file:` opens the person's own files */
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
		/** The server has rejected some of it: it is not used again. */
		invalidateCredentials(rejected) {
			const isRejected = (part: typeof rejected): boolean => rejected === "all" || rejected === part;
			tokens = isRejected("tokens") ? undefined : tokens;
			discovery = isRejected("discovery") ? undefined : discovery;
			oauthClient.client = isRejected("client") && !configured ? undefined : oauthClient.client;
		},
	};
	return oauthClient;
}
