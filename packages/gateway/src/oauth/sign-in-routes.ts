import type { OAuthMetadata, OAuthTokens } from "@modelcontextprotocol/server";
import { Hono } from "hono";
import { describeIssues } from "xs-mcp-manager/core";
import type { Clients } from "../app.js";
import { SCOPES } from "../config/access.js";
import type { DeviceKey } from "../devices/device-key.js";
import type { RunningGateway } from "../gateway.js";
import { GatewayError } from "../gateway-error.js";
import { oauthBody } from "../http/rejections.js";
import { allow, field, type HttpEnv, optionalField, type Route, readFields, readJson } from "../http/route.js";
import { CLIENT_METADATA, findClient, registerClient } from "./clients.js";
import { addConsent } from "./consent-routes.js";
import { MetadataDocuments } from "./metadata-document.js";
import type { ProtectedResource } from "./protected-resource.js";
import { type AuthorizationServer, SIGN_IN_PATHS, type SignIn } from "./sign-in.js";

/** Path of the metadata of a resource: RFC 9728 section 3.1. */
const RESOURCE_METADATA = "/.well-known/oauth-protected-resource";

/** Path of the metadata of the authorization server: RFC 8414 section 3. Some clients add the path of the resource. */
const SERVER_METADATA = "/.well-known/oauth-authorization-server";

/** Largest request of a client that signs in, bytes. */
const MAX_BODY = 16_384;

/** The routes by which clients sign in: before they are authenticated. */
export function addSignIn(app: Hono<HttpEnv>, gateway: RunningGateway, clients: Clients, signIn: SignIn): void {
	const { server, resource } = signIn;
	const { guard, rejections } = clients;
	app.all(RESOURCE_METADATA, allow("GET"), showResource(resource));
	app.all(`${RESOURCE_METADATA}/mcp/:device?`, allow("GET"), showResource(resource));
	if (server === undefined) {
		return;
	}
	for (const path of [SERVER_METADATA, `${SERVER_METADATA}/mcp/:device?`]) {
		app.all(path, allow("GET"), async (c) => c.json(await describeServer(server)));
	}
	const api = new Hono<HttpEnv>();
	api.onError((error, c) => rejections.answer(error, c, oauthBody));
	for (const [path, route] of [
		[SIGN_IN_PATHS.register, register(gateway.key)],
		[SIGN_IN_PATHS.token, issueTokens(gateway.key, server, resource)],
		[SIGN_IN_PATHS.revoke, revoke(server)],
	] as const) {
		app.all(path, allow("POST"));
		api.post(path, guard.limitRate, route);
	}
	app.route("/", api);
	addConsent(app, gateway, clients, server, resource);
}

/** `GET /.well-known/oauth-protected-resource/mcp/DEVICE`; without a path, that of `/mcp`. */
function showResource(resource: ProtectedResource): Route {
	return (c) => {
		const path = new URL(c.req.url).pathname.slice(RESOURCE_METADATA.length) || "/mcp";
		const metadata = resource.metadata(path);
		if (metadata === undefined) {
			throw new GatewayError("not-found", "not found");
		}
		return c.json(metadata);
	};
}

/** Metadata of the authorization server: RFC 8414 section 2. Without Internet, clients are offered registration only. */
async function describeServer({ origin, documents }: AuthorizationServer): Promise<OAuthMetadata> {
	return {
		issuer: origin,
		authorization_endpoint: origin + SIGN_IN_PATHS.authorize,
		token_endpoint: origin + SIGN_IN_PATHS.token,
		registration_endpoint: origin + SIGN_IN_PATHS.register,
		revocation_endpoint: origin + SIGN_IN_PATHS.revoke,
		scopes_supported: Object.values(SCOPES),
		response_types_supported: ["code"],
		response_modes_supported: ["query"],
		grant_types_supported: ["authorization_code", "refresh_token"],
		token_endpoint_auth_methods_supported: ["none"],
		revocation_endpoint_auth_methods_supported: ["none"],
		code_challenge_methods_supported: ["S256"],
		authorization_response_iss_parameter_supported: true,
		client_id_metadata_document_supported: await documents.canBeFetched(),
	};
}

/** `POST /oauth/register`: RFC 7591 section 3. A client never gets a secret, even if it requests one. */
function register(key: DeviceKey): Route {
	return async (c) => {
		const { data, error } = CLIENT_METADATA.safeParse(await readJson(c.env.incoming, MAX_BODY));
		if (data === undefined) {
			const isOfRedirect = error.issues[0]?.path[0] === "redirect_uris";
			const code = isOfRedirect ? "invalid_redirect_uri" : "invalid_client_metadata";
			throw new GatewayError(code, describeIssues(error.issues, "metadata"));
		}
		const client = registerClient(key, data);
		if (client === undefined) {
			throw new GatewayError("invalid_client_metadata", "name and redirect URIs are too long");
		}
		const answer = {
			client_id: client.id,
			client_id_issued_at: Math.floor(Date.now() / 1_000),
			client_name: client.name,
			redirect_uris: client.redirectUris,
			grant_types: ["authorization_code", "refresh_token"],
			response_types: ["code"],
			token_endpoint_auth_method: "none",
		};
		return c.json(answer, 201);
	};
}

/** `POST /oauth/token`: OAuth 2.1 section 3.2. */
function issueTokens(key: DeviceKey, { grants }: AuthorizationServer, resource: ProtectedResource): Route {
	return async (c) => {
		const fields = await readFields(c.env.incoming, MAX_BODY);
		const clientId = field(fields, "client_id");
		if (!MetadataDocuments.names(clientId) && findClient(key, clientId) === undefined) {
			throw new GatewayError("invalid_client", "client_id: unknown; register again", { status: 401 });
		}
		const asked = optionalField(fields, "resource");
		const audience = asked === undefined ? undefined : resource.identify(asked);
		if (asked !== undefined && audience === undefined) {
			throw new GatewayError("invalid_target", "resource: not of this gateway");
		}
		let answer: OAuthTokens;
		const type = field(fields, "grant_type");
		if (type === "authorization_code") {
			const redirectUri = optionalField(fields, "redirect_uri");
			const verifier = field(fields, "code_verifier");
			answer = await grants.exchange(field(fields, "code"), { clientId, redirectUri, verifier, audience });
		} else if (type === "refresh_token") {
			answer = await grants.refresh(field(fields, "refresh_token"), clientId, audience);
		} else {
			throw new GatewayError("unsupported_grant_type", `grant_type: unexpected ${type.slice(0, 100)}`);
		}
		return c.json(answer);
	};
}

/** `POST /oauth/revoke`: RFC 7009. A token that is unknown is no error. */
function revoke({ grants }: AuthorizationServer): Route {
	return async (c) => {
		const fields = await readFields(c.env.incoming, MAX_BODY);
		await grants.revoke(field(fields, "token"), field(fields, "client_id"));
		return c.body(null, 200);
	};
}
