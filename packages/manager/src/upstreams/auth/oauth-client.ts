import type {
	OAuthClientProvider,
	OAuthDiscoveryState,
	StoredOAuthClientInformation,
	StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import type { OAuthSettings } from "../server-config.js";

/** Redirect URI. Only a sign-in listens there; a refresh names it, too. */
const NO_REDIRECT = "http://127.0.0.1/callback";

/** Client of OAuth 2.1 at one server. `client`: as it is registered. */
export type OAuthClient = Omit<OAuthClientProvider, "tokens"> & {
	client: StoredOAuthClientInformation | undefined;
	tokens(): StoredOAuthTokens | undefined;
};

/**
 * Makes a client of OAuth 2.1 at one server, for the SDK's `auth`. It keeps its state in memory.
 *
 * @param onAuthorize takes the URL at which a person signs in. Throws if there is no person
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
