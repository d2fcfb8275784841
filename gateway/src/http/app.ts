import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import type { TlsOptions } from "node:tls";
import type { Access } from "../clients/access.js";
import type { Logger } from "../log.js";
import type { Metrics } from "../metrics.js";
import { type Admission, addressOf, RequestGuard, type RequestGuardOptions } from "./auth.js";
import { readJson } from "./body.js";
import { RequestRefusal } from "./http-error.js";
import { refuse } from "./http-refusal.js";

/** Serves a path to those who may. */
export interface Page {
	/** Methods it takes, OPTIONS apart. */
	readonly methods: readonly string[];
	/** Whether anyone may have it without a token. */
	readonly isPublic?: boolean;
	/** @param body the request's JSON; undefined unless the method is POST */
	serve(request: IncomingMessage, response: ServerResponse, access: Access, body: unknown): Promise<void> | void;
}

export interface HttpServerOptions extends RequestGuardOptions {
	/** 0 for a free one. */
	readonly port: number;
	/** Key and certificate: the server then speaks HTTPS. */
	readonly tls?: TlsOptions;
	/** The page of a path, undefined where there is none. */
	readonly pageAt: (path: string) => Page | undefined;
	readonly maxBodyBytes: number;
	/** Milliseconds for a request to arrive, body included. */
	readonly bodyTimeout: number;
	readonly log: Logger;
	readonly metrics: Metrics;
}

/** What helmet would say for an API: nothing here is to be shown, framed, guessed or kept. */
const SECURITY_HEADERS = {
	"Cache-Control": "no-store",
	"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
	"Cross-Origin-Opener-Policy": "same-origin",
	"Referrer-Policy": "no-referrer",
	"X-Content-Type-Options": "nosniff",
	"X-Frame-Options": "DENY",
};

/** Codes of JSON-RPC 2.0 §5.1: what is no JSON, and an error of the server's own, as the SDK has them for HTTP errors. */
const PARSE_ERROR = -32_700;
const SERVER_ERROR = -32_000;

/** Milliseconds for a client to send the rest of a request that is refused. */
const LINGER = 1_000;

/** What a client hears of an error that is the gateway's own: the log has the rest. */
const FAILURE = { status: 500, reason: "failed", message: "the gateway failed", headers: {} } as const;

/** The gateway's HTTP side: who may ask, how much, how fast; what is served is its pages' affair. */
export class HttpServer {
	readonly #options: HttpServerOptions;
	readonly #guard: RequestGuard;
	readonly #http: Server;
	/** Answers that are not complete: streams stay open for as long as the host likes. */
	readonly #open = new Map<ServerResponse, Admission>();

	constructor(options: HttpServerOptions) {
		this.#options = options;
		this.#guard = new RequestGuard(options);
		const limits = {
			headersTimeout: options.bodyTimeout,
			requestTimeout: options.bodyTimeout,
			connectionsCheckingInterval: Math.min(1_000, options.bodyTimeout),
		};
		this.#http = options.tls ? createTlsServer({ ...limits, ...options.tls }) : createServer(limits);
		this.#http.on("request", (request, response) => void this.#serve(request, response));
		this.#http.on("clientError", (error: NodeJS.ErrnoException, socket) => this.#refuseConnection(error, socket));
	}

	/** Starts to listen. What goes wrong later is logged. Rejects when the port is taken. Resolves with the port. */
	listen(): Promise<number> {
		return new Promise((resolve, reject) => {
			this.#http.once("error", reject);
			this.#http.listen(this.#options.port, this.#options.address, () => {
				this.#http.off("error", reject);
				this.#http.on("error", (error) => this.#options.log.error({ err: error }, "listening for hosts"));
				resolve((this.#http.address() as AddressInfo).port);
			});
		});
	}

	/** Ends the streams of those whose token is gone. */
	recheck(): void {
		for (const [response, admission] of this.#open) {
			if (!this.#guard.stillAdmits(admission)) {
				response.destroy();
			}
		}
	}

	/** Stops listening and cuts every connection. */
	async close(): Promise<void> {
		const closed = new Promise((resolve) => this.#http.close(resolve));
		this.#http.closeAllConnections();
		await closed;
	}

	async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
		const path = (request.url ?? "").replace(/\?.*/s, "");
		for (const [name, value] of Object.entries(SECURITY_HEADERS)) {
			response.setHeader(name, value);
		}
		try {
			await this.#guard.checkSource(request);
			for (const [name, value] of Object.entries(this.#guard.corsHeaders(request))) {
				response.setHeader(name, value);
			}
			if (request.method === "OPTIONS") {
				answerPreflight(request, response);
				return;
			}
			await this.#servePage(path, request, response);
		} catch (error) {
			await this.#refuse(error as Error, path, request, response);
		}
	}

	async #servePage(path: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
		const { pageAt, maxBodyBytes } = this.#options;
		const page = pageAt(path);
		const { method = "" } = request;
		const admission = page?.isPublic ? ANYONE : await this.#guard.authenticate(request);
		if (page === undefined) {
			throw new RequestRefusal(404, "not-found", "there is nothing here");
		}
		if (!page.methods.includes(method)) {
			const allowed = page.methods.join(", ");
			throw new RequestRefusal(405, "method", `expected ${allowed}`, { Allow: allowed });
		}
		if (!page.isPublic) {
			this.#open.set(response, admission);
			response.once("close", () => this.#open.delete(response));
		}
		const body = method === "POST" ? await readJson(request, maxBodyBytes) : undefined;
		await page.serve(request, response, admission.access, body);
	}

	async #refuse(error: Error, path: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
		this.#report(error, path, request);
		if (response.headersSent) {
			response.destroy();
			return;
		}
		await rest(request);
		if (!response.destroyed) {
			if (!request.complete) {
				response.setHeader("Connection", "close");
			}
			const refusal = error instanceof RequestRefusal ? error : FAILURE;
			for (const [name, value] of Object.entries(refusal.headers)) {
				response.setHeader(name, value);
			}
			refuse(response, refusal.status, refusal.reason === "not-json" ? PARSE_ERROR : SERVER_ERROR, refusal.message);
		}
	}

	#report(error: Error, path: string, request: IncomingMessage): void {
		const { log, metrics } = this.#options;
		const where = { address: addressOf(request), method: request.method, path };
		if (error instanceof RequestRefusal) {
			metrics.requestRefused(error.reason);
			// Whoever floods the gateway shall not flood its log.
			const level = error.reason === "rate" ? "debug" : "warn";
			log[level]({ ...where, status: error.status, reason: error.reason }, `refused: ${error.message}`);
		} else if (request.destroyed && !request.complete) {
			log.debug(where, "a request that did not arrive");
		} else {
			log.error({ ...where, err: error }, "a request failed");
		}
	}

	/** A connection that never made a request: too slow, or not HTTP. */
	#refuseConnection(error: NodeJS.ErrnoException, socket: Duplex & { remoteAddress?: string | undefined }): void {
		const { log, metrics } = this.#options;
		const slow = error.code === "ERR_HTTP_REQUEST_TIMEOUT";
		if (error.code === "ECONNRESET" || !socket.writable) {
			socket.destroy();
			return;
		}
		metrics.requestRefused(slow ? "slow" : "malformed");
		log.warn({ address: socket.remoteAddress, code: error.code }, slow ? "refused: too slow" : "refused: not HTTP");
		const status = slow ? "408 Request Timeout" : "400 Bad Request";
		socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
	}
}

/** For pages that are everybody's. */
const ANYONE: Admission = { access: { principal: "anyone", devices: new Set(), userTools: false }, token: undefined };

/** Lets the rest of a request pass unread, for a while: a client that still writes would lose the answer. */
async function rest(request: IncomingMessage): Promise<void> {
	if (!request.complete && !request.destroyed) {
		await new Promise<void>((resolve) => {
			const timer = setTimeout(resolve, LINGER);
			for (const event of ["end", "close"]) {
				request.once(event, () => {
					clearTimeout(timer);
					resolve();
				});
			}
			request.resume();
		});
	}
}

/** CORS preflight: any header may be sent, since those of MCP 2026-07-28 are named by tools (`Mcp-Param-…`). */
function answerPreflight(request: IncomingMessage, response: ServerResponse): void {
	const asked = request.headers["access-control-request-headers"];
	response
		.writeHead(204, {
			"Access-Control-Allow-Methods": "GET, POST, DELETE",
			...(asked !== undefined && { "Access-Control-Allow-Headers": asked }),
			"Access-Control-Max-Age": "600",
		})
		.end();
}
