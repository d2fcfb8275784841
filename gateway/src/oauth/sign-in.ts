import type { TokenIssuer } from "../config/access.js";
import { publicOrigin } from "../config/listen-address.js";
import type { RunningGateway } from "../gateway.js";
import { AuthorizationServer } from "./authorization-server.js";
import { MetadataDocuments } from "./metadata-document.js";
import { OutsideIssuer } from "./outside-issuer.js";
import { ProtectedResource } from "./protected-resource.js";

/** Sign-in with OAuth 2.1: MCP "Authorization". */
export interface SignIn {
	readonly resource: ProtectedResource;
	readonly issuer: TokenIssuer;
	/** The gateway's own authorization server; undefined if the issuer is outside. */
	readonly server?: AuthorizationServer;
	/** Whether every client needs a token, on loopback too: the issuer is outside. */
	readonly isRequired: boolean;
}

/** Opens sign-in as it is configured; undefined if it is off. */
export function openSignIn({ settings, tokens, shortLived, resolve, key }: RunningGateway): SignIn | undefined {
	const { publicUrl, issuer, ...rest } = settings;
	const origin = publicOrigin(publicUrl);
	if (origin === undefined) {
		return undefined;
	}
	if (issuer !== undefined) {
		const resource = new ProtectedResource(origin, issuer);
		return { resource, issuer: new OutsideIssuer({ ...rest, issuer }, resource), isRequired: true };
	}
	const documents = new MetadataDocuments({ resolve });
	const server = new AuthorizationServer({ origin, tokens, shortLived, key, documents });
	return { resource: new ProtectedResource(origin, origin), issuer: server.grants, server, isRequired: false };
}
