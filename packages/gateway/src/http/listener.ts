import { createServer, type Server as HttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Server } from "node:net";
import { type TlsOptions, Server as TlsServer } from "node:tls";
import type { WebSocket } from "ws";

/** Milliseconds for a request's headers to arrive, and without anything of its body. */
const REQUEST_TIMEOUT = 10_000;

/**
 * Milliseconds after which bytes of a body must come fast enough: so many in each {@link REQUEST_TIMEOUT}. A busy device may need
 * longer than that for a small picture.
 */
const SLOW_TIME = 60_000;
const MIN_PROGRESS_BYTES = 16_384;

/** Milliseconds in which nothing of what waits to be sent leaves, after which a client that does not read is disconnected. */
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
): HttpServer {
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
		// Node's time starts again with all that leaves, in part as well.
		response.setTimeout(stallTime, () => response.writableLength > 0 && response.destroy());
		watchProgress(server, request);
	});
}

/** Ends a request whose body is too slow. Bytes are those of the connection: what arrived with the headers counts as well. */
function watchProgress(server: HttpServer, request: IncomingMessage): void {
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
	request.once("close", () => clearInterval(timer));
}

/**
 * Starts to listen. Rejects if the port is in use. Resolves with the port.
 *
 * @param port 0 for a free one
 * @param onError called with later errors; the server continues to listen
 */
export function listenOn(
	server: Server,
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
export async function closeServer(server: HttpServer, flushTime = 0): Promise<void> {
	const closed = new Promise((resolve) => server.close(resolve));
	server.closeIdleConnections();
	const timer = setTimeout(() => server.closeAllConnections(), flushTime);
	await closed;
	clearTimeout(timer);
}

/** Makes a TLS server use another key and certificate for new connections. */
export function renewTls(server: Server, tls: TlsOptions): void {
	if (server instanceof TlsServer) {
		server.setSecureContext(tls);
	}
}

/** Pings the other side, and cuts a connection on which nothing has come since the ping before. Some peers answer no ping. */
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
