import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { TlsOptions } from "node:tls";
import { getRequestListener } from "@hono/node-server";
import type { Hono } from "hono";
import type { Logger } from "../log/log.js";
import { createHttpServer, listenOn, renewTls } from "../net/listener.js";
import type { RejectionReport } from "./rejections.js";
import type { HttpEnv } from "./route.js";

type Listener = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

/** Milliseconds for the last answers to be sent when the server closes. */
const FLUSH_TIME = 500;

/** Milliseconds for a client to close its side of a connection that is rejected. */
const HALF_OPEN_TIME = 1_000;

/** Node's HTTP or HTTPS server, with limits on how slow a request may be. */
export class HttpServer {
	readonly #http: Server;
	readonly #log: Logger;
	readonly #rejections: RejectionReport;

	/** @param tls key and certificate: the server then speaks HTTPS */
	constructor(onRequest: Listener, rejections: RejectionReport, log: Logger, tls?: TlsOptions) {
		this.#log = log;
		this.#rejections = rejections;
		this.#http = createHttpServer((err) => log.error({ err }, "response failed"), { tls });
		this.#http.on("request", onRequest);
		this.#http.on("clientError", (error: NodeJS.ErrnoException, socket) => this.#rejectConnection(error, socket));
	}

	/** Starts to listen. Later errors are logged. Rejects if the port is taken. Resolves with the port. */
	listen(host: string, port: number): Promise<number> {
		return listenOn(this.#http, { host, port }, (error) => this.#log.error({ err: error }, "cannot accept clients"));
	}

	/** Uses another key and certificate for new connections. */
	renewTls(tls: TlsOptions): void {
		renewTls(this.#http, tls);
	}

	/** Stops listening. Connections stay. */
	stop(): void {
		this.#http.close();
	}

	/** Stops listening and ends every connection: one that still sends an answer gets a moment for that. */
	async close(): Promise<void> {
		const closed = new Promise((resolve) => this.#http.close(resolve));
		this.#http.closeIdleConnections();
		const timer = setTimeout(() => this.#http.closeAllConnections(), FLUSH_TIME);
		await closed;
		clearTimeout(timer);
	}

	/** Answers a connection that never made a request: it is too slow, or does not speak HTTP. */
	#rejectConnection(error: NodeJS.ErrnoException, socket: Duplex & { remoteAddress?: string | undefined }): void {
		if (error.code === "ECONNRESET" || !socket.writable) {
			socket.destroy();
			return;
		}
		const slow = error.code === "ERR_HTTP_REQUEST_TIMEOUT";
		this.#rejections.connection(slow ? "slow" : "malformed", {
			address: socket.remoteAddress,
			code: error.code,
		});
		const status = slow ? "408 Request Timeout" : "400 Bad Request";
		socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
		// At once, the client could lose the answer; without it, a client that never closes its side keeps the descriptor.
		const timer = setTimeout(() => socket.destroy(), HALF_OPEN_TIME);
		socket.once("close", () => clearTimeout(timer));
	}
}

/** Has a Hono app answer the requests of one of Node's servers. */
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
