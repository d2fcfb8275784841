import type { LookupFunction } from "node:net";
import type { TokenIssuer } from "../config/access.js";
import { publicOrigin } from "../config/listen-address.js";
import type { Configuration } from "../config/settings.js";
import type { TokenStore } from "../config/token-store.js";
import { DeviceKey } from "../devices/device-key.js";
import { AuthorizationServer } from "./authorization-server.js";
import type { CodeStore } from "./codes.js";
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

/**
 * Sign-in as it is configured; undefined if it is off.
 *
 * @param codes undefined: in memory
 * @param resolve resolves the names of clients' metadata documents; undefined: the system's resolver
 */
export function openSignIn(
	configuration: Configuration,
	tokens: TokenStore,
	codes?: CodeStore,
	resolve?: LookupFunction,
): SignIn | undefined {
	const { publicUrl, issuer, stateFolder, ...rest } = configuration;
	const origin = publicOrigin(publicUrl);
	if (origin === undefined) {
		return undefined;
	}
	if (issuer !== undefined) {
		const resource = new ProtectedResource(origin, issuer);
		return { resource, issuer: new OutsideIssuer({ ...rest, issuer }, resource), isRequired: true };
	}
	const documents = new MetadataDocuments({ resolve });
	const server = new AuthorizationServer({ origin, tokens, key: new DeviceKey(stateFolder), codes, documents });
	return { resource: new ProtectedResource(origin, origin), issuer: server.grants, server, isRequired: false };
}
