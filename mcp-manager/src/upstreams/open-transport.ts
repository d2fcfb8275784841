import {
	type AuthProvider,
	type OAuthClientProvider,
	SSEClientTransport,
	StreamableHTTPClientTransport,
	type Transport,
} from "@modelcontextprotocol/client";
import { makeCarefulFetch } from "./careful-fetch.js";
import { ProcessTransport } from "./process-transport.js";
import type { ServerConfig } from "./server-config.js";
import { WebSocketTransport } from "./websocket-transport.js";

/** Authentication of each request over HTTP. */
export type Auth = AuthProvider | OAuthClientProvider;

/** Milliseconds. */
const MAX_PATIENCE = 30_000;

interface OpenedTransport {
	readonly transport: Transport;
	/** For a server over HTTP that may have only SSE, which its URL does not show. */
	readonly makeSse?: () => SSEClientTransport;
}

/**
 * Makes a connection of its own to a configured server, which `start` opens.
 *
 * @param onFault called with the reason if the connection must end although the transport would continue
 * @param patience milliseconds that a request over HTTP may wait for a server that has had too many. Default: half of the time for a
 * call, so that the call's error is the server's, not that there was no answer
 */
export function openTransport(
	config: ServerConfig,
	onFault: (reason: string) => void,
	auth?: Auth,
	patience = Math.min(config.timeout / 2, MAX_PATIENCE),
): OpenedTransport {
	const { url, headers } = config;
	const httpOptions = {
		requestInit: { headers },
		fetch: makeCarefulFetch(patience, onFault),
		...(auth && { authProvider: auth }),
	};
	const makeSse = (): SSEClientTransport => {
		// The URL behind `sse://`, `http+sse://` and `https+sse://`.
		const sseUrl = url.replace(/^(?:http\+)?sse:\/\//i, "http://").replace(/^https\+sse:\/\//i, "https://");
		return new SSEClientTransport(new URL(sseUrl), httpOptions);
	};
	switch (config.transport) {
		case "stdio":
			return { transport: new ProcessTransport(config) };
		case "http": {
			// Only a person can give more scopes.
			const options = { ...httpOptions, onInsufficientScope: "throw" as const };
			const transport = new StreamableHTTPClientTransport(new URL(url), options);
			return { transport, ...(!config.isTransportGiven && { makeSse }) };
		}
		case "sse":
			return { transport: makeSse() };
		case "websocket":
			return { transport: new WebSocketTransport(url, headers) };
	}
}
