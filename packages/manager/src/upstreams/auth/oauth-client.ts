import type {
	AuthProvider,
	OAuthClientProvider,
	OAuthDiscoveryState,
	StoredOAuthClientInformation,
	StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import * as z from "zod";

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

const SECRET = z.string().min(1);

/** How requests to a server over HTTP or WebSocket are authenticated, as in a servers file. */
export const AUTH = z.discriminatedUnion("type", [
	z.strictObject({ type: z.literal("bearer"), token: SECRET.describe("Sent as Authorization: Bearer") }),
	z.strictObject({ type: z.literal("basic"), username: SECRET, password: z.string() }),
	z.strictObject({
		type: z.literal("api-key"),
		key: SECRET,
		header: z.string().min(1).default("X-API-Key").describe("The header that carries the key"),
	}),
	z.strictObject({
		type: z.literal("oauth2"),
		grant: z
			.enum(["authorization_code", "client_credentials"])
			.default("authorization_code")
			.describe("authorization_code: a person signs in once; client_credentials: the client id and secret do"),
		clientId: SECRET.optional().describe("Of a registered client. Default: the client registers itself"),
		clientSecret: SECRET.optional(),
		clientMetadataUrl: z
			.string()
			.regex(/^https:\/\/[^/]+\/./, "expected an https URL with a path")
			.optional()
			.describe("Of a client ID metadata document, which a server may accept in place of a registration"),
		scope: SECRET.optional().describe("Scopes to ask for, separated by spaces. Default: those that the server names"),
	}),
]);

type AuthOfFile = z.input<typeof AUTH>;

/** The settings of OAuth 2.1. */
export type OAuthSettings = Extract<z.output<typeof AUTH>, { type: "oauth2" }>;

/** Authentication of a program's own: `token` is called before each request, `onUnauthorized` after status 401. */
type CustomAuth = { readonly type: "custom" } & AuthProvider;

/** How requests to a server are authenticated. Only programs can use `custom`. */
export type McpAuthProvider = AuthOfFile | CustomAuth;
