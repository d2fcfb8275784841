import type { OAuthMetadata } from "@modelcontextprotocol/server";
import type { Store } from "xs-mcp-manager/core";
import { SCOPES } from "../config/scopes.js";
import type { TokenStore } from "../config/token-store.js";
import type { DeviceKey } from "../devices/device-key.js";
import { ClientRegistrations, type OAuthClient } from "./clients.js";
import { Grants } from "./grants.js";
import { MetadataDocuments } from "./metadata-document.js";
import { SignInRequests } from "./sign-in-request.js";

interface AuthorizationServerOptions {
	/** The public URL without a path, which is also the issuer's identifier. */
	readonly origin: string;
	readonly tokens: TokenStore;
	/** The store of what does not last: codes. */
	readonly shortLived: Store;
	readonly key: DeviceKey;
	readonly documents: MetadataDocuments;
}

/** Where clients ask for what: paths below the public URL. */
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
export class AuthorizationServer {
	readonly origin: string;
	readonly grants: Grants;
	readonly registrations: ClientRegistrations;
	readonly requests: SignInRequests;
	readonly #documents: MetadataDocuments;

	constructor({ origin, tokens, shortLived, key, documents }: AuthorizationServerOptions) {
		this.origin = origin;
		this.grants = new Grants(tokens, shortLived, key);
		this.registrations = new ClientRegistrations(key);
		this.requests = new SignInRequests(key, tokens);
		this.#documents = documents;
	}

	/** Its metadata: RFC 8414 section 2. Without Internet, clients are offered registration only. */
	async describe(): Promise<OAuthMetadata> {
		return {
			issuer: this.origin,
			authorization_endpoint: this.origin + SIGN_IN_PATHS.authorize,
			token_endpoint: this.origin + SIGN_IN_PATHS.token,
			registration_endpoint: this.origin + SIGN_IN_PATHS.register,
			revocation_endpoint: this.origin + SIGN_IN_PATHS.revoke,
			scopes_supported: Object.values(SCOPES),
			response_types_supported: ["code"],
			response_modes_supported: ["query"],
			grant_types_supported: ["authorization_code", "refresh_token"],
			token_endpoint_auth_methods_supported: ["none"],
			revocation_endpoint_auth_methods_supported: ["none"],
			code_challenge_methods_supported: ["S256"],
			authorization_response_iss_parameter_supported: true,
			client_id_metadata_document_supported: await this.#documents.canBeFetched(),
		};
	}

	/** Whether a client's id may be one of this gateway. */
	knows(id: string): boolean {
		return MetadataDocuments.names(id) || this.registrations.find(id) !== undefined;
	}

	/**
	 * The client of an id; undefined if it is unknown. Rejects with DocumentError if its document cannot be used.
	 *
	 * @param address of the person who signs in
	 */
	async findClient(id: string, address: string): Promise<OAuthClient | undefined> {
		return MetadataDocuments.names(id) ? await this.#documents.find(id, address) : this.registrations.find(id);
	}
}
