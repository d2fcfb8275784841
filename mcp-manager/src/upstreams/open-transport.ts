import {
	type AuthProvider,
	type OAuthClientProvider,
	SSEClientTransport,
	StreamableHTTPClientTransport,
	type Transport,
} from "@modelcontextprotocol/client";
import { getDefaultEnvironment } from "@modelcontextprotocol/client/stdio";
import { makeCarefulFetch } from "./careful-fetch.js";
import { HttpOrSseTransport } from "./http-or-sse-transport.js";
import { isolated } from "./isolation.js";
import { ProcessTransport } from "./process-transport.js";
import type { ServerConfig } from "./server-config.js";
import { WebSocketTransport } from "./websocket-transport.js";

type OnFault = (reason: string) => void;
type Auth = AuthProvider | OAuthClientProvider;

/**
 * A connection of its own to a configured server, which `start` opens.
 *
 * @param onFault called with the reason if the connection must end although the transport would continue
 * @param auth over HTTP: what authenticates each request. Default: the headers
 */
export function openTransport(config: ServerConfig, onFault: OnFault, auth?: Auth): Transport {
	const { url, headers, env, cwd } = config;
	switch (config.transport) {
		case "stdio": {
			const { command, args } = isolated(config);
			const inherited = config.isolation.environment === "given" ? {} : getDefaultEnvironment();
			return new ProcessTransport({ command, args, env: { ...inherited, ...env }, cwd });
		}
		case "http": {
			const options = optionsOf(config, onFault, auth);
			// Only a person can give more scopes.
			const http = new StreamableHTTPClientTransport(new URL(url), { ...options, onInsufficientScope: "throw" });
			return config.isTransportGiven ? http : new HttpOrSseTransport(http, () => openSse(config, onFault, auth));
		}
		case "sse":
			return openSse(config, onFault, auth);
		case "websocket":
			return new WebSocketTransport(url, headers);
	}
}

function openSse(config: ServerConfig, onFault: OnFault, auth?: Auth): SSEClientTransport {
	return new SSEClientTransport(new URL(httpUrl(config.url)), optionsOf(config, onFault, auth));
}

function optionsOf({ headers }: ServerConfig, onFault: OnFault, auth?: Auth) {
	return { requestInit: { headers }, fetch: makeCarefulFetch(onFault), ...(auth && { authProvider: auth }) };
}

/** The URL behind `sse://`, `http+sse://` and `https+sse://`. */
function httpUrl(url: string): string {
	return url.replace(/^(?:http\+)?sse:\/\//i, "http://").replace(/^https\+sse:\/\//i, "https://");
}
