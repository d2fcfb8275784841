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

export interface TransportOptions {
	/** The authentication of each request over HTTP. Default: the headers. */
	readonly auth?: AuthProvider | OAuthClientProvider | undefined;
	/**
	 * Milliseconds that a request over HTTP may wait for a server that has had too many. Default: half of the time for a call, so
	 * that the call's error is the server's, not that there was no answer.
	 */
	readonly patience?: number;
}

/** Milliseconds. */
const MAX_PATIENCE = 30_000;

interface OpenOptions extends TransportOptions {
	/** Called with the reason if the connection must end although the transport would continue. */
	readonly onFault: (reason: string) => void;
}

/** A connection of its own to a configured server, which `start` opens. */
export function openTransport(config: ServerConfig, options: OpenOptions): Transport {
	const { url, headers, env, cwd } = config;
	switch (config.transport) {
		case "stdio": {
			const { command, args } = isolated(config);
			const inherited = config.isolation.environment === "given" ? {} : getDefaultEnvironment();
			const { memory } = config.isolation;
			return new ProcessTransport({ command, args, env: { ...inherited, ...env }, cwd, memory });
		}
		case "http": {
			// Only a person can give more scopes.
			const httpOptions = { ...httpOptionsOf(config, options), onInsufficientScope: "throw" as const };
			const http = new StreamableHTTPClientTransport(new URL(url), httpOptions);
			return config.isTransportGiven ? http : new HttpOrSseTransport(http, () => openSse(config, options));
		}
		case "sse":
			return openSse(config, options);
		case "websocket":
			return new WebSocketTransport(url, headers);
	}
}

function openSse(config: ServerConfig, options: OpenOptions): SSEClientTransport {
	// The URL behind `sse://`, `http+sse://` and `https+sse://`.
	const url = config.url.replace(/^(?:http\+)?sse:\/\//i, "http://").replace(/^https\+sse:\/\//i, "https://");
	return new SSEClientTransport(new URL(url), httpOptionsOf(config, options));
}

function httpOptionsOf({ headers, timeout }: ServerConfig, { auth, patience, onFault }: OpenOptions) {
	const fetch = makeCarefulFetch({
		patience: patience ?? Math.min(timeout / 2, MAX_PATIENCE),
		onTooLarge: onFault,
	});
	return { requestInit: { headers }, fetch, ...(auth && { authProvider: auth }) };
}
