import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { type InitializeRequestParams, isInitializeRequest } from "@modelcontextprotocol/server";
import { LRUCache } from "lru-cache";
import { SERVER_ERROR, SESSION_NOT_FOUND } from "xs-mcp-manager/core";
import { isObject } from "../firmware.js";
import { sendJsonRpcError } from "../http/http-error.js";
import { type ConnectedClient, HttpSession, type SessionClient } from "./http-session.js";
import { KeptSessions } from "./kept-sessions.js";
import { type SessionClaims, SessionIds } from "./session-ids.js";
import { type SessionHolder, sessionToEnd } from "./session-rooms.js";

export interface HttpSessionsOptions {
	/**
	 * Milliseconds without a request in progress or an open stream, after which a session is no longer in memory. Default 30
	 * minutes. Its next request restores it.
	 */
	readonly sessionIdleTimeout?: number;
	/** Sessions at the same time. Default 1,000. Beyond, the one that has been idle for longest ends. */
	readonly maxSessions?: number;
	/** Signs the ids of sessions, so that gateways with the same key go on with them. Default: a random one. */
	readonly sessionKey?: string;
	/** Keeps what clients have subscribed to, in its folder `sessions`. Default: nowhere. */
	readonly stateFolder?: string;
}

const MINUTES = 60_000;

/** Sessions that clients have ended, and that are remembered as such. */
const MAX_ENDED = 10_000;

/** The sessions of clients that speak a revision with sessions. */
export class HttpSessions {
	readonly #options: HttpSessionsOptions;
	/** By id; the one used last comes last. */
	readonly #sessions = new Map<string, HttpSession>();
	readonly #ids: SessionIds;
	readonly #kept: KeptSessions;
	/** Ids of sessions that clients have ended. */
	readonly #ended = new LRUCache<string, true>({ max: MAX_ENDED });
	readonly #onError: (error: Error) => void;

	constructor(options: HttpSessionsOptions, onError: (error: Error) => void) {
		const { sessionKey, stateFolder } = options;
		this.#options = options;
		this.#ids = new SessionIds(sessionKey);
		this.#kept = new KeptSessions(stateFolder && join(stateFolder, "sessions"), onError);
		this.#onError = onError;
	}

	get size(): number {
		return this.#sessions.size;
	}

	/** Connected clients, the most recently used last. */
	get clients(): readonly ConnectedClient[] {
		return [...this.#sessions.values()].flatMap(({ client }) => client ?? []);
	}

	/** Whether the session with this id is open. */
	has(id: string): boolean {
		return this.#sessions.has(id);
	}

	/**
	 * Serves a client's request: begins a session, or goes on with the one that it names. That serves only clients with the same
	 * token, on the same path, as the one that began it: for others it does not exist.
	 */
	async handle(request: IncomingMessage, response: ServerResponse, client: SessionClient, body: unknown) {
		const id = request.headers["mcp-session-id"];
		if (typeof id === "string") {
			await this.#goOn(id, { request, response, client, body });
		} else if (isInitializeRequest(body)) {
			await this.#open(request, response, client, body);
		} else if (request.method === "GET") {
			// Some clients ask for a stream before they begin a session, and take any other status for a fault.
			response.setHeader("Allow", "POST");
			sendJsonRpcError(response, 405, SERVER_ERROR, "No stream without a session: start with initialize");
		} else {
			const isInitialize = isObject(body) && body.method === "initialize";
			const problem = isInitialize
				? "initialize: expected an id, and the params protocolVersion (text), capabilities and clientInfo (objects)"
				: "missing Mcp-Session-Id header; start with initialize";
			sendJsonRpcError(response, 400, SERVER_ERROR, `Bad Request: ${problem}`);
		}
	}

	/** Ends the streams and requests of every session. Clients may go on with them at the next gateway. */
	async close(): Promise<void> {
		await Promise.all([...this.#sessions.values()].map((session) => session.close()));
	}

	async #goOn(id: string, { request, response, client, body }: SessionRequest): Promise<void> {
		const session = await this.#find(id, client);
		if (session === undefined) {
			sendJsonRpcError(response, 404, SESSION_NOT_FOUND, "Session not found: start a new one with initialize");
			return;
		}
		if (session === "full") {
			rejectForRoom(response);
			return;
		}
		this.#sessions.delete(id);
		this.#sessions.set(id, session);
		await session.serve(request, response, body);
		if (request.method === "DELETE" && session.isClosed) {
			this.#ended.set(id, true);
			await this.#kept.remove(id);
		}
	}

	/** A session that is open, or can be restored. */
	async #find(id: string, client: SessionClient): Promise<HttpSession | "full" | undefined> {
		const open = this.#sessions.get(id);
		if (open?.isOf(client)) {
			await open.restored;
			return open;
		}
		const claims = this.#ended.has(id) ? undefined : this.#ids.read(id, client);
		if (claims === undefined) {
			return undefined;
		}
		// The rights of the client's token have changed.
		await open?.close();
		if (!(await this.#makeRoom(holderOf(client, claims.name)))) {
			return "full";
		}
		return await this.#restore(id, client, claims);
	}

	async #restore(id: string, client: SessionClient, claims: SessionClaims): Promise<HttpSession | undefined> {
		const another = this.#sessions.get(id);
		const session = another ?? this.#create(client, { name: claims.name, since: claims.since });
		this.#sessions.set(id, session);
		try {
			session.restored ??= session.restore(id, claims);
			await session.restored;
			return session;
		} catch (error) {
			this.#onError(error as Error);
			await session.close();
			this.#sessions.delete(id);
			return undefined;
		}
	}

	async #open(request: IncomingMessage, response: ServerResponse, client: SessionClient, body: unknown) {
		const { name } = (body as { params: InitializeRequestParams }).params.clientInfo;
		if (!(await this.#makeRoom(holderOf(client, name)))) {
			rejectForRoom(response);
			return;
		}
		const session = this.#create(client, { name, since: Date.now() });
		await session.open();
		await session.serve(request, response, body);
	}

	#create(client: SessionClient, { name, since }: { readonly name: string; readonly since: number }): HttpSession {
		const session: HttpSession = new HttpSession({
			client,
			since,
			holder: holderOf(client, name),
			idleTimeout: this.#options.sessionIdleTimeout ?? 30 * MINUTES,
			kept: this.#kept,
			onOpened: (params) => {
				const id = this.#ids.make(client, params, since);
				this.#sessions.set(id, session);
				return id;
			},
			onClosed: (id) => {
				if (this.#sessions.get(id) === session) {
					this.#sessions.delete(id);
				}
			},
			onError: this.#onError,
		});
		return session;
	}

	/** Whether there is room for a newcomer's session, which may take the place of another. */
	async #makeRoom(newcomer: SessionHolder): Promise<boolean> {
		const { maxSessions = 1_000 } = this.#options;
		if (this.#sessions.size < maxSessions) {
			return true;
		}
		const victim = sessionToEnd([...this.#sessions.values()], newcomer, maxSessions);
		await victim?.close();
		return victim !== undefined;
	}
}

interface SessionRequest {
	readonly request: IncomingMessage;
	readonly response: ServerResponse;
	readonly client: SessionClient;
	readonly body: unknown;
}

function rejectForRoom(response: ServerResponse): void {
	response.setHeader("Retry-After", "60");
	sendJsonRpcError(response, 503, SERVER_ERROR, "Too many sessions in use");
}

function holderOf({ principal, address = "" }: SessionClient, name: string): SessionHolder {
	return [principal, address, name];
}
