import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Server as NetServer, Socket } from "node:net";
import type { TlsOptions } from "node:tls";
import { getRequestListener } from "@hono/node-server";
import type { Hono } from "hono";
import type { WebSocket } from "ws";
import { listenAt, readTlsFiles } from "../config/listen-address.js";
import type { Configuration } from "../config/settings.js";
import type { Logger } from "../log.js";
import type { RejectionReport } from "./rejections.js";
import type { HttpEnv } from "./route.js";

/** Milliseconds for a request's headers to arrive, and without anything of its body. */
const REQUEST_TIMEOUT = 10_000;

/**
 * After this many milliseconds, a body needs {@link MIN_PROGRESS_BYTES} in each {@link REQUEST_TIMEOUT}. Until then one byte is
 * enough: a busy device may take a while for a small picture.
 */
const SLOW_TIME = 60_000;
const MIN_PROGRESS_BYTES = 16_384;

/** Milliseconds after which a client that reads nothing of its queued response is disconnected. */
const STALL_TIME = 120_000;

/** Milliseconds that an idle connection stays open: longer than at reverse proxies, whose next request could meet its end. */
const IDLE_TIME = 75_000;

/**
 * Node's HTTP or HTTPS server, which cuts connections whose request is too slow: as Node does it, by the event
 * `clientError` with the code `ERR_HTTP_REQUEST_TIMEOUT`. A response whose client has stopped reading is cut, too; one that is
 * read slowly is not.
 *
 * Not by Node's `requestTimeout`, which limits the whole body: a device may take longer for a picture.
 *
 * @param onError called with the reason of a failed response: a programming error. Its connection has ended
 * @param tls key and certificate: the server then speaks HTTPS
 */
export function createHttpServer(
	onError: (error: Error) => void,
	{ tls, stallTime = STALL_TIME }: { readonly tls?: TlsOptions | undefined; readonly stallTime?: number } = {},
): Server {
	const limits = {
		requestTimeout: 0,
		headersTimeout: REQUEST_TIMEOUT,
		keepAliveTimeout: IDLE_TIME,
		connectionsCheckingInterval: 1_000,
	};
	const server = tls ? createTlsServer({ ...limits, ...tls }) : createServer(limits);
	// Before the listeners that read the request.
	return server.on("request", (request: IncomingMessage, response: ServerResponse) => {
		response.on("error", (error) => {
			response.destroy();
			onError(error);
		});
		// Node restarts the timer whenever bytes leave.
		response.setTimeout(stallTime, () => response.writableLength > 0 && response.destroy());
		watchProgress(server, request);
	});
}

/** Ends a request whose body is too slow. It counts the bytes of the connection, because some arrive with the headers. */
function watchProgress(server: Server, request: IncomingMessage): void {
	const { headers, socket } = request;
	if (!("transfer-encoding" in headers) && Number(headers["content-length"] ?? 0) === 0) {
		return;
	}
	let seen = socket.bytesRead;
	let time = 0;
	const timer = setInterval(() => {
		time += REQUEST_TIMEOUT;
		const least = time > SLOW_TIME ? MIN_PROGRESS_BYTES : 1;
		if (socket.bytesRead - seen < least) {
			clearInterval(timer);
			const error = Object.assign(new Error("request timeout"), { code: "ERR_HTTP_REQUEST_TIMEOUT" });
			if (!server.emit("clientError", error, socket)) {
				socket.write("HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
				socket.destroySoon();
			}
		}
		seen = socket.bytesRead;
	}, REQUEST_TIMEOUT);
	request.on("close", () => clearInterval(timer));
}

/**
 * Starts to listen. Rejects if the port is in use. Resolves with the port.
 *
 * @param port 0 for a free one
 * @param onError called with later errors; the server continues to listen
 */
export function listenOn(
	server: NetServer,
	{ host, port }: { readonly host: string; readonly port: number },
	onError: (error: Error) => void,
): Promise<number> {
	return new Promise((resolve, reject) => {
		server.once("error", reject);
		server.listen(port, host, () => {
			server.off("error", reject);
			server.on("error", onError);
			resolve((server.address() as AddressInfo).port);
		});
	});
}

/**
 * Stops listening and ends every connection. Settles when all have ended.
 *
 * @param flushTime milliseconds for answers that are being sent
 */
export async function closeServer(server: Server, flushTime = 0): Promise<void> {
	const closed = new Promise((resolve) => server.close(resolve));
	server.closeIdleConnections();
	const timer = setTimeout(() => server.closeAllConnections(), flushTime);
	await closed;
	clearTimeout(timer);
}

/** Pings the peer, and cuts the connection if nothing arrives between two pings. Any message counts: some peers answer no ping. */
export function watchLiveness(socket: WebSocket, interval = 30_000): void {
	let alive = true;
	for (const event of ["message", "ping", "pong"] as const) {
		socket.on(event, () => {
			alive = true;
		});
	}
	const timer = setInterval(() => {
		if (!alive) {
			socket.terminate();
			return;
		}
		alive = false;
		socket.ping();
	}, interval);
	socket.once("close", () => clearInterval(timer));
}

/** Milliseconds for a client to close its side of a connection that is rejected. */
const HALF_OPEN_TIME = 1_000;

/** Makes the server for clients. It also answers and reports a connection that is too slow for a request, or does not speak HTTP. */
export function createClientServer(
	onRequest: RequestListener,
	rejections: RejectionReport,
	log: Logger,
	tls: TlsOptions | undefined,
): Server {
	const server = createHttpServer((err) => log.error({ err }, "response failed"), { tls });
	server.on("request", onRequest);
	server.on("clientError", ({ code }: NodeJS.ErrnoException, socket: Socket) => {
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
export function makeRequestListener(app: Hono<HttpEnv>, rejections: RejectionReport): RequestListener {
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
