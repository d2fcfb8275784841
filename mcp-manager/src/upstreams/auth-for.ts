import { type AuthProvider, ClientCredentialsProvider, type OAuthClientProvider } from "@modelcontextprotocol/client";
import { SignIns, type SignInsOptions } from "./auth/sign-ins.js";
import { SignedIn } from "./auth/signed-in.js";
import type { ServerConfig } from "./server-config.js";

/** Authentication for a server over HTTP; undefined if its headers authenticate, or nothing can. */
export function authFor(
	config: ServerConfig,
	signIns: SignInsOptions | undefined,
): AuthProvider | OAuthClientProvider | undefined {
	const { id, url, transport, headers, oauth, authProvider } = config;
	if (authProvider !== undefined) {
		return authProvider;
	}
	if (oauth?.grant === "client_credentials") {
		const { clientId = "", clientSecret = "", scope } = oauth;
		return new ClientCredentialsProvider({ clientId, clientSecret, clientName: "xs-mcp", ...(scope && { scope }) });
	}
	const hasSecret = Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
	if (signIns === undefined || hasSecret || (transport !== "http" && transport !== "sse")) {
		return undefined;
	}
	return new SignedIn({ id, url, settings: oauth, signIns: new SignIns(signIns.folder), how: signIns.how });
}
