import type { IncomingMessage, ServerResponse } from "node:http";
import { isInitializeRequest } from "@modelcontextprotocol/server";
import type { Gateway } from "../gateway.js";
import { sendJsonRpcError } from "../http/json-rpc-error.js";
import type { HostServerOptions } from "./client-server.js";
import { HostSession } from "./http-session.js";

export interface HostSessionsOptions {
	/** Milliseconds without a request under way or an open stream, after which a session ends. Default 30 minutes. */
	readonly sessionIdleTimeout?: number;
	/** Sessions at the same time. Default 1,000. Beyond, the one that is idle for longest ends. */
	readonly maxSessions?: number;
}

const MINUTES = 60_000;

/** The sessions of hosts that speak a revision with sessions. */
export class HostSessions {
	readonly #gateway: Gateway;
	readonly #options: HostSessionsOptions;
	/** By id; the one used last comes last. */
	readonly #sessions = new Map<string, HostSession>();
	readonly #onError: (error: Error) => void;

	constructor(gateway: Gateway, options: HostSessionsOptions, onError: (error: Error) => void) {
		this.#gateway = gateway;
		this.#options = options;
		this.#onError = onError;
	}

	get size(): number {
		return this.#sessions.size;
	}

	/**
	 * Serves a request of a host: begins a session, or goes to the one it names. A session is served only to whom it
	 * was opened by, with the same rights and on the same path: to others it does not exist.
	 */
	async handle(request: IncomingMessage, response: ServerResponse, host: HostServerOptions, body: unknown) {
		const id = request.headers["mcp-session-id"];
		if (id === undefined && isInitializeRequest(body)) {
			await this.#open(request, response, host, body);
		} else if (typeof id !== "string") {
			sendJsonRpcError(
				response,
				400,
				-32_000,
				"Bad Request: the Mcp-Session-Id header is missing: begin with initialize",
			);
		} else {
			const session = this.#sessions.get(id);
			if (session?.isOf(host) !== true) {
				sendJsonRpcError(response, 404, -32_001, "Session not found: begin a new one with initialize");
				return;
			}
			this.#sessions.delete(id);
			this.#sessions.set(id, session);
			await session.serve(request, response, body);
		}
	}

	/** Ends every session. */
	async close(): Promise<void> {
		await Promise.all([...this.#sessions.values()].map((session) => session.close()));
	}

	async #open(request: IncomingMessage, response: ServerResponse, host: HostServerOptions, body: unknown) {
		if (!(await this.#makeRoom())) {
			response.setHeader("Retry-After", "60");
			sendJsonRpcError(response, 503, -32_000, "Too many sessions, and each of them is in use");
			return;
		}
		let openedId: string | undefined;
		const session: HostSession = await HostSession.open({
			gateway: this.#gateway,
			host,
			idleTimeout: this.#options.sessionIdleTimeout ?? 30 * MINUTES,
			onOpened: (id) => {
				openedId = id;
				this.#sessions.set(id, session);
			},
			onClosed: () => openedId !== undefined && this.#sessions.delete(openedId),
			onError: this.#onError,
		});
		await session.serve(request, response, body);
	}

	/** Hosts seldom say that they are done with a session: the one that was not used for longest makes room. */
	async #makeRoom(): Promise<boolean> {
		if (this.#sessions.size < (this.#options.maxSessions ?? 1_000)) {
			return true;
		}
		const longestIdle = [...this.#sessions.values()].find(({ idle }) => idle);
		await longestIdle?.close();
		return longestIdle !== undefined;
	}
}
