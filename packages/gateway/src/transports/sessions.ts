import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import {
	type ClientCapabilities,
	type InitializeRequestParams,
	isInitializeRequest,
} from "@modelcontextprotocol/server";
import { LRUCache } from "lru-cache";
import { MemoryStore, SERVER_ERROR, SESSION_NOT_FOUND, type Store } from "xs-mcp-manager/core";
import * as z from "zod";
import type { Catalog } from "../catalog/catalog.js";
import type { Access } from "../config/access.js";
import { isObject } from "../firmware.js";
import { RpcRejection } from "../http/http-error.js";
import type { Gateway } from "../mcp/gateway.js";
import { victimFor } from "../net/fair-share.js";
import { FileStore } from "../store/file-store.js";
import { type ConnectedClient, keyOf, Session } from "./session.js";

export interface SessionsOptions {
	/**
	 * Milliseconds without a request in progress or an open stream, after which a session is no longer in memory. Default 30
	 * minutes. Its next request restores it.
	 */
	readonly sessionIdleTimeout?: number;
	/** Sessions at the same time. Default 1,000. Beyond, the one that has been idle for longest ends. */
	readonly maxSessions?: number;
	/** Signs the ids of sessions, so that gateways with the same key continue them. Default: a random one. */
	readonly sessionKey?: string;
	/** Keeps the subscriptions of clients, in its folder `sessions`. Default: in memory. */
	readonly stateFolder?: string;
	/** Milliseconds for which a client may keep a list (2026-07-28, `ttlMs`). Default 5,000. */
	readonly listTtl?: number;
}

/** The client of one request. */
export interface RequestClient {
	/** What it may reach. */
	readonly catalog: Catalog;
	/** Its network address. */
	readonly address: string;
}

const MINUTES = 60_000;

/** Sessions that clients have ended, and that are remembered as such. */
const MAX_ENDED = 10_000;

/** The sessions of clients that speak a revision with sessions. */
export class Sessions {
	readonly gateway: Gateway;
	readonly listTtl: number | undefined;
	readonly idleTimeout: number;
	/** Keeps what would not be repeated in a restored session: see {@link keyOf}. */
	readonly store: Store;
	readonly onError: (error: Error) => void;
	readonly #maxSessions: number;
	/** By id; the one used last comes last. */
	readonly #sessions = new Map<string, Session>();
	readonly #ids: SessionIds;
	/** Ids of sessions that clients have ended. */
	readonly #ended = new LRUCache<string, true>({ max: MAX_ENDED });

	constructor(gateway: Gateway, options: SessionsOptions, onError: (error: Error) => void) {
		const { sessionKey, stateFolder, listTtl, sessionIdleTimeout = 30 * MINUTES, maxSessions = 1_000 } = options;
		this.#maxSessions = maxSessions;
		this.#ids = new SessionIds(sessionKey);
		this.gateway = gateway;
		this.listTtl = listTtl;
		this.idleTimeout = sessionIdleTimeout;
		this.store = stateFolder === undefined ? new MemoryStore() : FileStore.open(join(stateFolder, "sessions"));
		this.onError = onError;
	}

	get size(): number {
		return this.#sessions.size;
	}

	/** Connected clients, the most recently used last. */
	get clients(): readonly ConnectedClient[] {
		return [...this.#sessions.values()].map(({ client }) => client);
	}

	/** Whether the session with this id is open. */
	has(id: string): boolean {
		return this.#sessions.has(id);
	}

	/**
	 * Serves a client's request: begins a session, or continues the one that it names. A session serves only clients with the
	 * same token, on the same path, as the one that began it: for others it does not exist. Rejects with {@link RpcRejection}.
	 */
	async handle(request: IncomingMessage, response: ServerResponse, client: RequestClient, body: unknown) {
		const { "mcp-session-id": id } = request.headers;
		if (request.method === "DELETE" && typeof id === "string") {
			await this.#end(id, client);
			response.writeHead(200).end();
			return;
		}
		const session = typeof id === "string" ? this.#find(id, client) : this.#begin(request, client, body);
		if (!session.isClosed) {
			this.#sessions.delete(session.sessionId);
			this.#sessions.set(session.sessionId, session);
		}
		session.serve(request, response, body);
	}

	/** Ends the streams and requests of every session. Clients may continue them at the next gateway. */
	close(): void {
		for (const session of [...this.#sessions.values()]) {
			session.close();
		}
	}

	#begin({ method }: IncomingMessage, client: RequestClient, body: unknown): Session {
		if (isInitializeRequest(body)) {
			const { id, claims } = this.#ids.make(client.catalog, body.params);
			return this.#add(id, claims, client, false);
		}
		if (method === "GET") {
			// Some clients ask for a stream before they begin a session, and take any other status for a fault.
			const headers = { Allow: "POST" };
			throw new RpcRejection(405, SERVER_ERROR, "No stream without a session: start with initialize", { headers });
		}
		const isInitialize = isObject(body) && body.method === "initialize";
		const problem = isInitialize
			? "initialize: expected an id, and the params protocolVersion (text), capabilities and clientInfo (objects)"
			: "missing Mcp-Session-Id header; start with initialize";
		throw new RpcRejection(400, SERVER_ERROR, `Bad Request: ${problem}`);
	}

	/** The session of this id that is open, or can be restored. */
	#find(id: string, client: RequestClient): Session {
		const open = this.#sessions.get(id);
		if (open?.catalog.key === client.catalog.key) {
			return open;
		}
		const claims = this.#claimsIn(id, client);
		// Otherwise the rights of the client's token have changed.
		open?.close();
		return this.#add(id, claims, client, true);
	}

	async #end(id: string, client: RequestClient): Promise<void> {
		this.#claimsIn(id, client);
		this.#ended.set(id, true);
		this.#sessions.get(id)?.close(true);
		await this.store.delete(keyOf(id)).catch(this.onError);
	}

	#claimsIn(id: string, { catalog }: RequestClient): SessionClaims {
		const claims = this.#ended.has(id) ? undefined : this.#ids.read(id, catalog);
		if (claims === undefined) {
			throw unknownSession();
		}
		return claims;
	}

	/** Adds a session, which may take the place of another. */
	#add(id: string, claims: SessionClaims, { catalog, address }: RequestClient, isRestored: boolean): Session {
		// From the most trustworthy fact to the least.
		const holder = [catalog.access.principal, address, claims.name];
		if (this.#sessions.size >= this.#maxSessions) {
			const victim = victimFor([...this.#sessions.values()], holder, this.#maxSessions);
			if (victim === undefined) {
				throw new RpcRejection(503, SERVER_ERROR, "Too many sessions in use", { headers: { "Retry-After": "60" } });
			}
			victim.close();
		}
		const session = new Session(this, { id, claims, holder }, catalog, isRestored);
		this.#sessions.set(id, session);
		return session;
	}

	/** Removes a session that has ended. */
	forget(session: Session): void {
		if (this.#sessions.get(session.sessionId) === session) {
			this.#sessions.delete(session.sessionId);
		}
	}
}

function unknownSession(): RpcRejection {
	return new RpcRejection(404, SESSION_NOT_FOUND, "Session not found: start a new one with initialize");
}

/** Characters of a client's name and version that are kept. */
const MAX_NAME = 100;

/** Characters of a client's capabilities, as JSON, that are kept: an id is a header of each request. */
const MAX_CAPABILITIES = 1_000;

/** Characters of an id. */
const MAX_ID = 4_096;

/** The client's description of itself, from the start of its session. */
const claimsSchema = z.object({
	/** When, in milliseconds since 1970. */
	since: z.number(),
	revision: z.string(),
	name: z.string(),
	version: z.string(),
	capabilities: z.record(z.string(), z.unknown()),
});

export type SessionClaims = z.infer<typeof claimsSchema>;

/** The capabilities that fit, in the client's order. */
function fittingCapabilities(capabilities: ClientCapabilities): Record<string, unknown> {
	const fitting: Record<string, unknown> = {};
	let room = MAX_CAPABILITIES;
	for (const [name, value] of Object.entries(capabilities)) {
		const length = JSON.stringify({ [name]: value }).length;
		if (length <= room) {
			fitting[name] = value;
			room -= length;
		}
	}
	return fitting;
}

/** Owner of a session: a token, whatever its rights, on one path. */
interface SessionOwner {
	readonly access: Pick<Access, "principal" | "holder">;
	/** The server of /mcp/SERVER. */
	readonly server: string | undefined;
}

/**
 * Ids of sessions: they hold the claims and are signed for their owner, so that a gateway which does not know a session,
 * because it was restarted or the session was idle, restores it. Ids hold no rights: each request brings its token.
 */
export class SessionIds {
	readonly #key: string;

	/** @param key gateways with the same one accept each other's ids. Default: a random one */
	constructor(key: string = randomBytes(32).toString("base64url")) {
		this.#key = key;
	}

	/** Makes the id of a session that begins. */
	make(owner: SessionOwner, { protocolVersion, clientInfo, capabilities }: InitializeRequestParams) {
		const claims: SessionClaims = {
			since: Date.now(),
			revision: protocolVersion,
			name: clientInfo.name.slice(0, MAX_NAME),
			version: clientInfo.version.slice(0, MAX_NAME),
			capabilities: fittingCapabilities(capabilities),
		};
		const nonce = randomBytes(12).toString("base64url");
		const text = `${nonce}.${Buffer.from(JSON.stringify(claims)).toString("base64url")}`;
		return { id: `${text}.${this.#sign(text, owner)}`, claims };
	}

	/** The client's claims; undefined if no gateway with this key has made the id for this owner. */
	read(id: string, owner: SessionOwner): SessionClaims | undefined {
		const end = id.lastIndexOf(".");
		if (id.length > MAX_ID || end < 0) {
			return undefined;
		}
		const text = id.slice(0, end);
		// As text: the last character has bits that decoding drops, so that several would be the same signature.
		const [expected, given] = [Buffer.from(this.#sign(text, owner)), Buffer.from(id.slice(end + 1))];
		if (expected.length !== given.length || !timingSafeEqual(expected, given)) {
			return undefined;
		}
		return claimsSchema.safeParse(JSON.parse(Buffer.from(text.split(".")[1] ?? "", "base64url").toString())).data;
	}

	#sign(text: string, { access: { principal, holder }, server }: SessionOwner): string {
		const signed = JSON.stringify([text, principal, holder ?? null, server ?? null]);
		return createHmac("sha256", this.#key).update(signed).digest("base64url");
	}
}
