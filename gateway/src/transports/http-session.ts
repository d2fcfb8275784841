import type { IncomingMessage, ServerResponse } from "node:http";
import type { InitializeRequestParams, ServerContext } from "@modelcontextprotocol/server";
import type { CatalogChange, ListName } from "../catalog/catalog.js";
import { ClientServer, type ClientServerOptions } from "../mcp/client-server.js";
import { type KeptSessions, SessionAsks } from "./kept-sessions.js";
import type { SessionClaims, SessionOwner } from "./session-ids.js";
import type { SessionHolder } from "./session-rooms.js";
import { SessionTransport } from "./session-transport.js";

/** A client of a session, and what it may reach at the moment. */
export interface SessionClient extends ClientServerOptions, SessionOwner {
	/** Its network address. */
	readonly address?: string | undefined;
}

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
export class HttpSession {
	readonly holder: SessionHolder;
	readonly #options: HttpSessionOptions;
	readonly #transport: SessionTransport;
	readonly #server: ClientServer;
	readonly #asks: SessionAsks;
	readonly #stopFollowing: () => void;
	/** Settles when a session of an earlier process can be used; undefined for a new one. */
	restored: Promise<void> | undefined;
	/** Lists that have changed since the client began to read them. */
	readonly #outdated = new Set<ListName>();
	/** The ones that the client does not know of yet. */
	readonly #pendingListChanges = new Set<ListName>();
	#calls = 0;
	#responses = 0;
	/** The stream for messages that answer no request. */
	#stream: ServerResponse | undefined;
	#idleTimer: NodeJS.Timeout | undefined;
	#isClosed = false;

	constructor(options: HttpSessionOptions) {
		const { client, kept, onOpened, onClosed, onError } = options;
		this.holder = options.holder;
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
			this.#isClosed = true;
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

	get isClosed(): boolean {
		return this.#isClosed;
	}

	/** Undefined until the client has sent its name. */
	get client(): ConnectedClient | undefined {
		const info = this.#server.getClientVersion();
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
		if (this.idle && !this.#isClosed) {
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
