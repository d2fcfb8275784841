import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { TlsOptions } from "node:tls";
import { getRequestListener } from "@hono/node-server";
import type { Hono } from "hono";
import type { Configuration } from "../config/settings.js";
import { listenAt, readTlsFiles } from "../config/tls-files.js";
import type { Logger } from "../log.js";
import { closeServer, createHttpServer, listenOn } from "./listener.js";
import type { RejectionReport } from "./rejections.js";
import type { HttpEnv } from "./route.js";

type Listener = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

/** Milliseconds for a client to close its side of a connection that is rejected. */
const HALF_OPEN_TIME = 1_000;

/**
 * Makes Node's HTTP or HTTPS server, with limits on how slow a request may be. It answers a connection that never made a request:
 * it is too slow, or does not speak HTTP.
 *
 * @param tls key and certificate: the server then speaks HTTPS
 */
export function makeServer(onRequest: Listener, rejections: RejectionReport, log: Logger, tls?: TlsOptions): Server {
	const server = createHttpServer((err) => log.error({ err }, "response failed"), { tls });
	server.on("request", onRequest);
	server.on("clientError", ({ code }: NodeJS.ErrnoException, socket: Duplex & { remoteAddress?: string }) => {
		if (code === "ECONNRESET" || !socket.writable) {
			socket.destroy();
			return;
		}
		const slow = code === "ERR_HTTP_REQUEST_TIMEOUT";
		rejections.connection(slow ? "slow" : "malformed", { address: socket.remoteAddress, code });
		const status = slow ? "408 Request Timeout" : "400 Bad Request";
		socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
		// At once, the client could lose the answer; without it, a client that never closes its side keeps the descriptor.
		const timer = setTimeout(() => socket.destroy(), HALF_OPEN_TIME);
		socket.once("close", () => clearTimeout(timer));
	});
	return server;
}

/** Passes the requests of a Node server to a Hono app. */
export function makeListener(app: Hono<HttpEnv>, rejections: RejectionReport): Listener {
	return getRequestListener(app.fetch, {
		overrideGlobalObjects: false,
		// The rest of a rejected request is drained before the answer.
		autoCleanupIncoming: false,
		// A missing Host must not make the URL unreadable: it is checked as one that is wrong.
		hostname: "localhost",
		errorHandler: (error) => rejections.answerMalformed(error as Error),
	});
}

/** Seconds after which clients and devices may try again. */
const RETRY_AFTER = "5";

/**
 * Answers every request at the ports of clients and devices with 503, because the gateway cannot serve them yet. Rejects with
 * ConfigurationError.
 *
 * @returns stops it
 */
export async function answerUnavailable(configuration: Configuration): Promise<() => Promise<void>> {
	const { websocket, httpAddress, httpPort, websocketAddress, websocketPort } = configuration;
	const servers: Server[] = [];
	const listen = async (listener: "http" | "websocket", host: string, port: number): Promise<void> => {
		const server = createHttpServer(() => {}, { tls: readTlsFiles(listener, configuration)?.options });
		server.on("request", (_request, response) => {
			response.writeHead(503, { "Content-Type": "application/json", "Retry-After": RETRY_AFTER });
			response.end('{"status":"starting","problem":"the cluster\'s store is unreachable"}\n');
		});
		await listenAt(listener, port, () => listenOn(server, { host, port }, () => {}));
		servers.push(server);
	};
	await listen("http", httpAddress, httpPort);
	if (websocket) {
		await listen("websocket", websocketAddress, websocketPort);
	}
	return async () => {
		for (const server of servers) {
			await closeServer(server);
		}
	};
}
