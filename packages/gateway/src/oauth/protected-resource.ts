import {
	getOAuthProtectedResourceMetadataUrl,
	type OAuthProtectedResourceMetadata,
} from "@modelcontextprotocol/server";
import { SCOPES } from "../config/access.js";

/** `/mcp`, or `/mcp/DEVICE` with the device percent-encoded. */
const PATH = /^\/mcp(?:\/([^/?#]{1,384}))?\/?$/;

/** Why a request is rejected. */
export interface Challenge {
	readonly error?: "invalid_token" | "insufficient_scope";
	readonly description?: string;
	/** The scopes that the request needs. Default: those of a client that calls tools. */
	readonly scope?: string;
}

/** The protected resource of clients: `/mcp` and `/mcp/DEVICE` at the gateway's public URL (RFC 9728). */
export type ProtectedResource = ReturnType<typeof makeProtectedResource>;

/** @param ownOrigin the public URL, without a path */
export function makeProtectedResource(ownOrigin: string, authorizationServer: string) {
	/**
	 * The normalized identifier of a resource, so that equal ones can be compared; undefined if it is not of this gateway.
	 * A path is relative to the public URL.
	 */
	const identify = (uri: string): string | undefined => {
		if (!URL.canParse(uri, ownOrigin)) {
			return undefined;
		}
		const { origin, pathname, search, hash, username } = new URL(uri, ownOrigin);
		const [match, device] = PATH.exec(pathname) ?? [];
		if (origin !== ownOrigin || match === undefined || search + hash + username !== "") {
			return undefined;
		}
		try {
			return `${origin}/mcp${device === undefined ? "" : `/${encodeURIComponent(decodeURIComponent(device))}`}`;
		} catch {
			return undefined;
		}
	};

	/** Whether a token for one of these resources may be used for a request: for the resource itself, or what is below it. */
	const covers = (audience: readonly string[], path: string): boolean => {
		const asked = identify(path);
		return asked !== undefined && audience.some((each) => asked === each || asked.startsWith(`${each}/`));
	};

	/**
	 * The metadata of the resource with that path (RFC 9728 section 3.2), spelled as in the client's request; undefined if there is
	 * none. A device need not exist: strangers cannot find out which do.
	 */
	const metadata = (path: string): OAuthProtectedResourceMetadata | undefined => {
		if (identify(path) === undefined) {
			return undefined;
		}
		return {
			resource: ownOrigin + path,
			authorization_servers: [authorizationServer],
			bearer_methods_supported: ["header"],
			scopes_supported: [SCOPES.read, SCOPES.control],
			resource_name: "xs-mcp gateway",
		};
	};

	/** The `WWW-Authenticate` header of a rejected request (RFC 6750 section 3, RFC 9728 section 5.1). */
	const challenge = (path: string, { error, description, scope = SCOPES.control }: Challenge = {}): string => {
		const resource = identify(path) === undefined ? "/mcp" : path;
		const parameters = {
			realm: "xs-mcp-gateway",
			...(error && { error }),
			...(description && { error_description: description }),
			// Other characters may not be in a header (RFC 6749 section 3.3).
			scope: scope.replace(/[^ !#-[\]-~]+/g, (text) => encodeURIComponent(Buffer.from(text).toString())),
			resource_metadata: getOAuthProtectedResourceMetadataUrl(new URL(ownOrigin + resource)),
		};
		return `Bearer ${Object.entries(parameters)
			.map(([name, value]) => `${name}="${value}"`)
			.join(", ")}`;
	};
	return { identify, covers, metadata, challenge };
}
