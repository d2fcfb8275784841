import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { auth, computeScopeUnion } from "@modelcontextprotocol/client";
import { SdkConnection } from "./sdk-connection.js";
import type { ServerConfig } from "./server-config.js";
import { makeOAuthClient, type OAuthClient, type SignIns } from "./sign-ins.js";

/** Milliseconds that a person has to sign in. */
const MAX_TIME = 600_000;

const PAGE = { "Content-Type": "text/plain; charset=utf-8", "Content-Security-Policy": "default-src 'none'" };

/**
 * Signs in at a server over HTTP with OAuth 2.1 (MCP 2025-11-25, Authorization): registers a client unless one is configured,
 * has a person approve it in a browser, and keeps the tokens once a connection with them works.
 *
 * Rejects with Error if the server does not ask for a sign-in, the person or the server rejects it, or ten minutes pass.
 *
 * @param onAuthorize gets the URL for a person to open in a browser
 * @param port of the loopback address to which the browser returns. 0: a free one
 */
export async function signIn(
	config: ServerConfig,
	signIns: SignIns,
	onAuthorize: (url: URL) => void,
	port = 0,
): Promise<void> {
	const { id, url, transport, oauth: settings } = config;
	if (transport !== "http" && transport !== "sse") {
		throw new Error(`${id}: ${transport}: only over HTTP does a server ask for a sign-in`);
	}
	const callback = await listenForBrowser(port);
	try {
		let isAsked = false;
		const ask = (page: URL): void => {
			isAsked = true;
			onAuthorize(page);
		};
		const client = makeOAuthClient(settings, ask, {}, callback);
		const { tokens: former, missingScope } = (await signIns.read(id, url)) ?? {};
		if (missingScope !== undefined) {
			const scope = computeScopeUnion(former?.scope, missingScope);
			await auth(client, { serverUrl: url, scope });
		} else {
			await connect(config, client).catch((error: Error) => {
				if (!isAsked) {
					throw error;
				}
			});
		}
		if (!isAsked) {
			throw new Error(`${id} does not ask for a sign-in`);
		}
		const answer = await callback.answer;
		const code = answer.get("code");
		if (code === null) {
			throw new Error(`rejected: ${answer.get("error_description") ?? answer.get("error") ?? "no code"}`);
		}
		const iss = answer.get("iss");
		await auth(client, { serverUrl: url, authorizationCode: code, ...(iss !== null && { iss }) });
		await connect(config, client);
		const tokens = client.tokens();
		if (tokens === undefined || client.client === undefined) {
			throw new Error("the server sent no token");
		}
		await signIns.write(id, { url, client: { ...client.client }, tokens: { ...tokens } });
	} finally {
		callback.close();
	}
}

async function connect(config: ServerConfig, provider: OAuthClient): Promise<void> {
	const connection = new SdkConnection(config, provider);
	try {
		await connection.initialize();
	} finally {
		await connection.transport.close("the sign-in was checked");
	}
}

/**
 * Listens for the browser's return from the authorization server (RFC 8252, section 7.3). Rejects with Error if the
 * port is in use.
 *
 * @returns `answer`: the parameters of the browser's request
 */
async function listenForBrowser(port: number) {
	const state = randomBytes(16).toString("base64url");
	const server = createServer();
	const answer = new Promise<URLSearchParams>((resolve, reject) => {
		const timer = setTimeout(() => reject(new Error("nobody signed in within ten minutes")), MAX_TIME).unref();
		server.on("request", (request, response) => {
			const { pathname, searchParams } = new URL(request.url ?? "", "http://127.0.0.1");
			// Not the callback of this sign-in: a code from an attacker is not accepted.
			if (pathname !== "/callback" || searchParams.get("state") !== state) {
				response.writeHead(404, PAGE).end("Not found.\n");
				return;
			}
			clearTimeout(timer);
			const text = searchParams.has("code") ? "Signed in: the terminal says more." : "Not signed in.";
			response.writeHead(200, PAGE).end(`${text} You can close this page.\n`);
			// Only once the page is sent: the command may exit at once.
			response.once("close", () => resolve(searchParams));
		});
	});
	// Awaited later: until then a failure is not unhandled.
	answer.catch(() => {});
	await once(server.listen(port, "127.0.0.1"), "listening");
	const close = (): void => {
		server.close();
		server.closeAllConnections();
	};
	return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`, state, answer, close };
}
