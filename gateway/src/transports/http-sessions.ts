import type { IncomingMessage, ServerResponse } from "node:http";
import { isInitializeRequest, type ServerContext } from "@modelcontextprotocol/server";
import { SERVER_ERROR, SESSION_NOT_FOUND } from "xs-mcp-manager/core";
import type { CatalogChange, ListName } from "../catalog/catalog.js";
import { sendJsonRpcError } from "../http/json-rpc-error.js";
import { ClientServer, type ClientServerOptions } from "../mcp/client-server.js";
import { SessionTransport } from "./session-transport.js";

export interface HttpSessionsOptions {
	/** Milliseconds without a request in progress or an open stream, after which a session ends. Default 30 minutes. */
	readonly sessionIdleTimeout?: number;
	/** Sessions at the same time. Default 1,000. Beyond, the one that has been idle for longest ends. */
	readonly maxSessions?: number;
}

const MINUTES = 60_000;

/** A client in a session, for the operator. */
export interface ConnectedClient {
	/** Its token's name, or "local". */
	readonly principal: string;
	/** What it says of itself: its host's name and version. */
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
	readonly #onError: (error: Error) => void;

	constructor(options: HttpSessionsOptions, onError: (error: Error) => void) {
		this.#options = options;
		this.#onError = onError;
	}

	get size(): number {
		return this.#sessions.size;
	}

	/** Who is connected, the one used last at the end. */
	get clients(): readonly ConnectedClient[] {
		return [...this.#sessions.values()].flatMap(({ client }) => client ?? []);
	}

	/** Whether a request names a session that is open. */
	owns({ headers }: IncomingMessage): boolean {
		return this.#sessions.has(`${headers["mcp-session-id"]}`);
	}

	/**
	 * Serves a client's request: begins a session, or goes to the one it names. A session serves only clients with the same
	 * access, on the same path, as the one that opened it: for others it does not exist.
	 */
	async handle(request: IncomingMessage, response: ServerResponse, client: ClientServerOptions, body: unknown) {
		const id = request.headers["mcp-session-id"];
		if (id === undefined && isInitializeRequest(body)) {
			await this.#open(request, response, client, body);
		} else if (typeof id !== "string") {
			sendJsonRpcError(
				response,
				400,
				SERVER_ERROR,
				"Bad Request: missing Mcp-Session-Id header; start with initialize",
			);
		} else {
			const session = this.#sessions.get(id);
			if (session?.isOf(client) !== true) {
				sendJsonRpcError(response, 404, SESSION_NOT_FOUND, "Session not found: start a new one with initialize");
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

	async #open(request: IncomingMessage, response: ServerResponse, client: ClientServerOptions, body: unknown) {
		if (!(await this.#makeRoom(client.principal))) {
			response.setHeader("Retry-After", "60");
			sendJsonRpcError(response, 503, SERVER_ERROR, "Too many sessions in use");
			return;
		}
		let openedId: string | undefined;
		const session: HttpSession = new HttpSession({
			client,
			idleTimeout: this.#options.sessionIdleTimeout ?? 30 * MINUTES,
			onOpened: (id) => {
				openedId = id;
				this.#sessions.set(id, session);
			},
			onClosed: () => openedId !== undefined && this.#sessions.delete(openedId),
			onError: this.#onError,
		});
		await session.open();
		await session.serve(request, response, body);
	}

	/**
	 * Clients seldom say that a session is no longer needed: their own that has been idle for longest makes room. A principal
	 * with fewer sessions than its share takes the place of one with the most, even if all of those are in use.
	 */
	async #makeRoom(principal: string): Promise<boolean> {
		const { maxSessions = 1_000 } = this.#options;
		if (this.#sessions.size < maxSessions) {
			return true;
		}
		const counts = this.#countByPrincipal(principal);
		const share = Math.max(1, Math.floor(maxSessions / counts.size));
		const hasShare = (counts.get(principal) ?? 0) >= share;
		const [greediest] = [...counts].reduce((one, other) => (other[1] > one[1] ? other : one));
		const owner = hasShare ? principal : greediest;
		const candidates = [...this.#sessions.values()].filter((each) => each.principal === owner);
		const victim = candidates.find(({ idle }) => idle) ?? (hasShare ? undefined : candidates[0]);
		await victim?.close();
		return victim !== undefined;
	}

	/** How many sessions each principal has, with 0 for one that has none yet. */
	#countByPrincipal(newcomer: string): ReadonlyMap<string, number> {
		const counts = new Map([[newcomer, 0]]);
		for (const { principal } of this.#sessions.values()) {
			counts.set(principal, (counts.get(principal) ?? 0) + 1);
		}
		return counts;
	}
}

interface HttpSessionOptions {
	readonly client: ClientServerOptions;
	readonly idleTimeout: number;
	readonly onOpened: (id: string) => void;
	readonly onClosed: () => void;
	readonly onError: (error: Error) => void;
}

/** A client's session over Streamable HTTP, as the revisions until 2025-11-25 have it: MCP "Session Management". */
class HttpSession {
	readonly #options: HttpSessionOptions;
	readonly #transport: SessionTransport;
	readonly #server: ClientServer;
	readonly #stopFollowing: () => void;
	/** Lists that have changed since the client began to read them. */
	readonly #outdated = new Set<ListName>();
	/** Those of them that the client has not been told of. */
	readonly #untold = new Set<ListName>();
	readonly #since = Date.now();
	#calls = 0;
	#responses = 0;
	/** What the server sends without being asked goes here. */
	#stream: ServerResponse | undefined;
	#idleTimer: NodeJS.Timeout | undefined;
	#closed = false;

	constructor(options: HttpSessionOptions) {
		const { client, onOpened, onClosed, onError } = options;
		this.#options = options;
		this.#server = new ClientServer({
			...client,
			onListed: (list) => {
				this.#outdated.delete(list);
				this.#untold.delete(list);
			},
			onCall: (context) => {
				this.#calls += 1;
				return this.#announceIn(context);
			},
		});
		this.#transport = new SessionTransport({ onOpened, onStream: (response) => this.#replaceStream(response) });
		this.#transport.onerror = onError;
		this.#stopFollowing = client.catalog.onChange((change) => void this.#changed(change));
		this.#transport.onclose = () => {
			this.#closed = true;
			clearTimeout(this.#idleTimer);
			this.#stopFollowing();
			onClosed();
		};
	}

	/** Gets ready for the `initialize` that is served next. */
	async open(): Promise<void> {
		await this.#server.connect(this.#transport);
	}

	/** Whether a client may use it: it has the same access, on the same path. */
	isOf({ catalog }: ClientServerOptions): boolean {
		return this.#options.client.catalog.key === catalog.key;
	}

	/** Who opened it. */
	get principal(): string {
		return this.#options.client.principal;
	}

	/** What is known of its client; undefined until that has said its name. */
	get client(): ConnectedClient | undefined {
		const info = this.#server.server.getClientVersion();
		const { principal } = this.#options.client;
		return info && { principal, name: info.name, version: info.version, since: this.#since, calls: this.#calls };
	}

	/** Whether no request is in progress and no stream open. */
	get idle(): boolean {
		return this.#responses === 0;
	}

	/** Serves one request. */
	async serve(request: IncomingMessage, response: ServerResponse, body: unknown): Promise<void> {
		if (response.closed) {
			// The client has disconnected: there would be no event that the answer is complete.
			return;
		}
		this.#begin(response);
		await this.#transport.handle(request, response, body);
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
			if (this.idle && !this.#closed) {
				this.#idleTimer = setTimeout(() => void this.close(), this.#options.idleTimeout);
			}
		});
	}

	#replaceStream(response: ServerResponse): void {
		this.#stream = response;
		response.once("close", () => {
			if (this.#stream === response) {
				this.#stream = undefined;
			}
			// The last messages may be lost.
			for (const list of this.#outdated) {
				this.#untold.add(list);
			}
		});
		void this.#announceUntold();
	}

	/** A client without a stream is told of a changed list later. Other changes wait for one that resumes its stream. */
	async #changed(change: CatalogChange): Promise<void> {
		if (isOfList(change)) {
			this.#outdated.add(change.kind);
			this.#untold.add(change.kind);
		}
		if (this.#stream !== undefined || !isOfList(change)) {
			await this.#announce(change);
		}
	}

	async #announceUntold(): Promise<void> {
		if (this.#stream !== undefined) {
			for (const kind of [...this.#untold]) {
				await this.#announce({ kind });
			}
		}
	}

	async #announce(change: CatalogChange): Promise<void> {
		if (isOfList(change)) {
			this.#untold.delete(change.kind);
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
		for (const list of [...this.#untold]) {
			this.#untold.delete(list);
			await mcpReq.notify({ method: `notifications/${list}/list_changed` }).catch(this.#options.onError);
		}
	}
}

function isOfList(change: CatalogChange): change is { readonly kind: ListName } {
	return change.kind !== "state" && change.kind !== "updated";
}
