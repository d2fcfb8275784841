import type { TokenIssuer } from "../config/access.js";
import { publicOrigin } from "../config/listen-address.js";
import type { RunningGateway } from "../gateway.js";
import { type Grants, makeGrants } from "./grants.js";
import { MetadataDocuments } from "./metadata-document.js";
import { openOutsideIssuer } from "./outside-issuer.js";
import { makeProtectedResource, type ProtectedResource } from "./protected-resource.js";

/** Endpoints of the authorization server, as paths below the public URL. */
export const SIGN_IN_PATHS = {
	authorize: "/oauth/authorize",
	token: "/oauth/token",
	register: "/oauth/register",
	revoke: "/oauth/revoke",
} as const;

/**
 * The gateway's own authorization server: OAuth 2.1 for public clients with PKCE, and a person who approves each.
 * Not oidc-provider: each request of a stranger fills its store of interactions, a wrong request is redirected without a person
 * in between, documents of private addresses are connected to before they are refused, and it needs Node 22.
 * Not the MCP SDK's router: it is for Express, and leaves clients, codes, tokens and consent to its user.
 * Not @node-oauth/oauth2-server: it lacks registration, metadata documents, `resource` and `iss`.
 */
export interface AuthorizationServer {
	/** The public URL without a path, which is also the issuer's identifier. */
	readonly origin: string;
	readonly grants: Grants;
	readonly documents: MetadataDocuments;
}

/** Sign-in with OAuth 2.1: MCP "Authorization". */
export interface SignIn {
	readonly resource: ProtectedResource;
	readonly issuer: TokenIssuer;
	/** Undefined if the issuer is outside: then every client needs a token, on loopback too. */
	readonly server?: AuthorizationServer;
}

/** Opens sign-in as it is configured; undefined if it is off. */
export function openSignIn({ settings, tokens, shortLived, resolve, key }: RunningGateway): SignIn | undefined {
	const { publicUrl, issuer } = settings;
	const origin = publicOrigin(publicUrl);
	if (origin === undefined) {
		return undefined;
	}
	if (issuer !== undefined) {
		const resource = makeProtectedResource(origin, issuer);
		return { resource, issuer: openOutsideIssuer(issuer, settings, resource) };
	}
	const grants = makeGrants(tokens, shortLived, key);
	const server = { origin, grants, documents: new MetadataDocuments({ resolve }) };
	return { resource: makeProtectedResource(origin, origin), issuer: grants, server };
}
