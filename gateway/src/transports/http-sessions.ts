import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { type InitializeRequestParams, isInitializeRequest, type ServerContext } from "@modelcontextprotocol/server";
import { LRUCache } from "lru-cache";
import { SERVER_ERROR, SESSION_NOT_FOUND } from "xs-mcp-manager/core";
import type { CatalogChange, ListName } from "../catalog/catalog.js";
import { sendJsonRpcError } from "../http/http-error.js";
import { ClientServer, type ClientServerOptions } from "../mcp/client-server.js";
import { KeptSessions, SessionAsks } from "./kept-sessions.js";
import { type SessionClaims, SessionIds, type SessionOwner } from "./session-ids.js";
import { type SessionHolder, sessionToEnd } from "./session-rooms.js";
import { SessionTransport } from "./session-transport.js";

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

/** A client of a session, and what it may reach at the moment. */
export interface SessionClient extends ClientServerOptions, SessionOwner {
	/** Its network address. */
	readonly address?: string | undefined;
}

const MINUTES = 60_000;

/** Sessions that clients have ended, and that are remembered as such. */
const MAX_ENDED = 10_000;

/** A client in a session, for the operator. */
export interface ConnectedClient {
	/** Its token's name, or "local". */
	readonly principal: string;
	/** Its description of itself: its host's name and version. */
	readonly name: string;
	readonly version: string;
	/** When the session began, in milliseconds since 1970. */
	readonly since: number;
	/** Calls of tools so far. */
	readonly calls: number;
}

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
			const problem = "Bad Request: missing Mcp-Session-Id header; start with initialize";
			sendJsonRpcError(response, 400, SERVER_ERROR, problem);
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

interface HttpSessionOptions {
	readonly client: SessionClient;
	/** When it began, in milliseconds since 1970. */
	readonly since: number;
	readonly holder: SessionHolder;
	readonly idleTimeout: number;
	readonly kept: KeptSessions;
	readonly onOpened: (params: InitializeRequestParams) => string;
	readonly onClosed: (id: string) => void;
	readonly onError: (error: Error) => void;
}

/** A client's session over Streamable HTTP, as the revisions until 2025-11-25 have it: MCP "Session Management". */
class HttpSession {
	readonly #options: HttpSessionOptions;
	readonly #transport: SessionTransport;
	readonly #server: ClientServer;
	readonly #asks: SessionAsks;
	readonly #stopFollowing: () => void;
	/** Settles when a session of an earlier process can be used; undefined for a new one. */
	restored: Promise<void> | undefined;
	/** Lists that have changed since the client began to read them. */
	readonly #outdated = new Set<ListName>();
	/** Those of them that the client has not been told of. */
	readonly #pendingListChanges = new Set<ListName>();
	#calls = 0;
	#responses = 0;
	/** The stream for messages that answer no request. */
	#stream: ServerResponse | undefined;
	#idleTimer: NodeJS.Timeout | undefined;
	#closed = false;

	constructor(options: HttpSessionOptions) {
		const { client, kept, onOpened, onClosed, onError } = options;
		this.#options = options;
		this.#server = new ClientServer({
			...client,
			onListed: (list) => {
				this.#outdated.delete(list);
				this.#pendingListChanges.delete(list);
			},
			onCall: (context) => {
				this.#calls += 1;
				return this.#announceIn(context);
			},
		});
		this.#transport = new SessionTransport({
			onOpened,
			onAnswered: async (request) => this.#asks.answered(request),
			onStream: (response) => this.#replaceStream(response),
		});
		this.#asks = new SessionAsks(this.#transport, kept);
		this.#transport.onerror = onError;
		this.#stopFollowing = client.catalog.onChange((change) => void this.#changed(change));
		this.#transport.onclose = () => {
			this.#closed = true;
			clearTimeout(this.#idleTimer);
			this.#stopFollowing();
			onClosed(this.#transport.sessionId ?? "");
		};
	}

	/** Gets ready for the `initialize` that is served next. */
	async open(): Promise<void> {
		await this.#server.connect(this.#transport);
	}

	/** Goes on with a session. Its client may have missed every kind of change. Rejects if its server does not accept it. */
	async restore(id: string, { revision, name, version, capabilities }: SessionClaims): Promise<void> {
		for (const list of LISTS) {
			this.#outdated.add(list);
			this.#pendingListChanges.add(list);
		}
		await this.open();
		await this.#transport.restore(id, {
			protocolVersion: revision,
			capabilities,
			clientInfo: { name, version },
		});
		await this.#asks.restore(id);
	}

	/** Whether a client may use it as it is: it has the same token and the same access, on the same path. */
	isOf({ catalog, holder }: SessionClient): boolean {
		const { client } = this.#options;
		return client.catalog.key === catalog.key && client.holder === holder;
	}

	get holder(): SessionHolder {
		return this.#options.holder;
	}

	get isClosed(): boolean {
		return this.#closed;
	}

	/** Undefined until the client has sent its name. */
	get client(): ConnectedClient | undefined {
		const info = this.#server.server.getClientVersion();
		const { client, since } = this.#options;
		const { principal } = client;
		return info && { principal, name: info.name, version: info.version, since, calls: this.#calls };
	}

	/** Whether no request is in progress and no stream open. */
	get idle(): boolean {
		return this.#responses === 0;
	}

	/** Serves one request. */
	async serve(request: IncomingMessage, response: ServerResponse, body: unknown): Promise<void> {
		if (response.closed) {
			// The client has disconnected: there would be no event that the answer is complete.
			this.#startIdleTimer();
		} else {
			this.#begin(response);
			await this.#transport.handle(request, response, body);
		}
		if (this.#transport.sessionId === undefined) {
			await this.close();
		}
	}

	async close(): Promise<void> {
		await this.#server.close();
	}

	#begin(response: ServerResponse): void {
		clearTimeout(this.#idleTimer);
		this.#responses += 1;
		response.once("close", () => {
			this.#responses -= 1;
			this.#startIdleTimer();
		});
	}

	#startIdleTimer(): void {
		clearTimeout(this.#idleTimer);
		if (this.idle && !this.#closed) {
			const close = (): void => void this.close().catch(this.#options.onError);
			this.#idleTimer = setTimeout(close, this.#options.idleTimeout);
		}
	}

	#replaceStream(response: ServerResponse): void {
		this.#stream = response;
		response.once("close", () => {
			if (this.#stream === response) {
				this.#stream = undefined;
			}
			// The last messages may be lost.
			for (const list of this.#outdated) {
				this.#pendingListChanges.add(list);
			}
		});
		void this.#announceUntold();
	}

	/** A client without a stream is told of a changed list later. Other changes wait for one that resumes its stream. */
	async #changed(change: CatalogChange): Promise<void> {
		if (isOfList(change)) {
			this.#outdated.add(change.kind);
			this.#pendingListChanges.add(change.kind);
			this.#asks.repeat();
		}
		if (this.#stream !== undefined || !isOfList(change)) {
			await this.#announce(change);
		}
	}

	async #announceUntold(): Promise<void> {
		if (this.#stream !== undefined) {
			for (const kind of [...this.#pendingListChanges]) {
				await this.#announce({ kind });
			}
		}
	}

	async #announce(change: CatalogChange): Promise<void> {
		if (isOfList(change)) {
			this.#pendingListChanges.delete(change.kind);
		}
		await this.#server.announce(change).catch(this.#options.onError);
	}

	/**
	 * Tells a client without a stream with the answer to its call: the SDK's clients do not open another stream when the
	 * network was down for more than some seconds, and would never be told of anything again.
	 */
	async #announceIn({ mcpReq }: ServerContext): Promise<void> {
		if (this.#stream !== undefined) {
			return;
		}
		for (const list of [...this.#pendingListChanges]) {
			this.#pendingListChanges.delete(list);
			await mcpReq.notify({ method: `notifications/${list}/list_changed` }).catch(this.#options.onError);
		}
	}
}

const LISTS: readonly ListName[] = ["tools", "resources", "prompts"];

function isOfList(change: CatalogChange): change is { readonly kind: ListName } {
	return change.kind !== "state" && change.kind !== "updated";
}
