import { EventEmitter } from "node:events";
import {
	type ClientCapabilities,
	type Implementation,
	ProtocolError,
	type RequestId,
	type ServerCapabilities,
} from "@modelcontextprotocol/client";
import { askingParams, REVISION_OF_STATELESS, relayedExtensions } from "./asking.js";
import { ServerError } from "./errors.js";
import { LISTS, type ListName, type Offers, readList } from "./offers.js";
import {
	isBelow,
	type LogLevel,
	PendingRequest,
	type Request,
	type RequestContext,
	readLogMessage,
} from "./request.js";
import { isOfClient, type Results } from "./results.js";
import type { Server } from "./server.js";

/** A program's capabilities in `initialize`, MCP extensions included. */
export type Capabilities = ClientCapabilities & Readonly<Record<string, unknown>>;

/** The server at the other end of a connection. */
export interface ServerIdentity {
	/** A device's `Device-Id` header (its MAC address), or its MQTT client id. */
	readonly id: string;
	/** A device's `Client-Id` header (a UUID), or its MQTT client id. */
	readonly clientId: string;
	/** "websocket" or "mqtt"; of a configured server also "stdio", "http" or "sse". */
	readonly transport: string;
	/** Whether the gateway opened the connection to a configured server. Such a server is not a device. */
	readonly configured?: boolean;
	/** Where a device reaches the gateway over HTTP, without a path, as its WebSocket's request says. Absent if unknown. */
	readonly gatewayUrl?: string;
	/** A page that shows it, on this computer. */
	readonly pageUrl?: string;
	/** Of a cluster: the other gateway that has the device's connection. Absent: this one has it. */
	readonly gateway?: string;
}

/** A server's `serverInfo` in its answer to `initialize`. */
export interface ServerInfo {
	readonly name: string;
	/** A device's firmware version. */
	readonly version: string;
}

/** A server that another gateway has met: it need not be asked who it is. */
export interface KnownServer {
	readonly offers: Offers;
	/** The last state that it has reported. */
	readonly state?: string | undefined;
}

/** Events of a connection, for features that follow one server for a moment. */
export interface ConnectionEvents {
	/** A notification of the server, except progress and cancellation. */
	notification: [method: string, params: Readonly<Record<string, unknown>>];
	/** The connection has ended. */
	closed: [reason: string];
}

type Params = Readonly<Record<string, unknown>>;

/** Milliseconds for which a server may still log for a request that was cancelled or timed out. */
const UNANSWERED_TIME = 60_000;

/** A member of `_meta` by which a device says to which request a notification belongs. */
const REQUEST_ID = "xs-mcp/requestId";

/** Characters of a description of an invalid message, for the log. */
const MAX_DESCRIPTION = 200;

/** A connection to a device, a configured server, or a device of another gateway. It reports to its {@link server}. */
export abstract class Connection {
	readonly identity: ServerIdentity;
	/** The server at the other end, as the registry has it. */
	server: Server | undefined;
	/** The server's name and version; undefined before the end of the handshake. */
	info: ServerInfo | undefined;
	/** Requests without an answer, by their ids. */
	protected readonly pending = new Map<RequestId, PendingRequest>();
	/** Undefined until a feature follows the connection: there are thousands. */
	#events: EventEmitter<ConnectionEvents> | undefined;
	#closeReason: string | undefined;
	/** The first request has id 1: some peers take 0 for no id. */
	#lastId = 0;
	/** The least severe level of log messages that the server was asked for. */
	#logLevel: LogLevel | undefined;
	/** The time, by `performance.now()`, until which a log message may belong to an unanswered request. */
	#uncertainUntil = 0;

	constructor(identity: ServerIdentity) {
		this.identity = identity;
	}

	/** The revision that the two sides agreed on; undefined before the handshake. */
	abstract get revision(): string | undefined;

	/** The server's capabilities, as it declared them. */
	abstract get capabilities(): ServerCapabilities;

	/** Makes MCP's handshake. Rejects with {@link ServerError} or the SDK's ProtocolError. */
	abstract initialize(capabilities: Capabilities, info: Implementation): Promise<void>;

	/** Sends a request. Throws the error with which it fails at once. */
	protected abstract write(pending: PendingRequest): void;

	/** Tells the server that nobody waits for a request's answer any more. */
	abstract cancelled(pending: PendingRequest, reason: string): void;

	/** Ends the connection to the server; over MQTT, the session. */
	protected abstract disconnect(reason: string): void;

	/** The answer without asking the server; undefined if it is not known. */
	get known(): KnownServer | undefined {
		return undefined;
	}

	/** The way to a device's speaker and from its microphone; undefined if it has none for packets of Opus. */
	get audio(): AudioChannel | undefined {
		return undefined;
	}

	get isOpen(): boolean {
		return this.#closeReason === undefined;
	}

	get events(): EventEmitter<ConnectionEvents> {
		this.#events ??= new EventEmitter();
		return this.#events;
	}

	/** Whether the server declares a capability, in `initialize`. */
	declares(capability: "resources" | "prompts" | "completions" | "logging" | "tools"): boolean {
		return this.capabilities[capability] !== undefined;
	}

	/** The extensions of the server that can be used through a gateway, as a capability. */
	get extensions(): ReturnType<typeof relayedExtensions> {
		return relayedExtensions(this.capabilities.extensions);
	}

	/** Whether updates of the server's resources can be subscribed to. */
	get canSubscribe(): boolean {
		return this.capabilities.resources?.subscribe === true;
	}

	/** Whether the server accepts stateless requests (2026-07-28): it may then ask the client while it serves them. */
	get isStateless(): boolean {
		const { stateless } = this.capabilities.experimental ?? {};
		const { supportedVersions: versions } = (stateless ?? {}) as { supportedVersions?: unknown };
		return Array.isArray(versions) && versions.includes(REVISION_OF_STATELESS);
	}

	/** Why an item of a list cannot be offered over this connection; undefined if it can. */
	problemOf(_list: ListName, _item: Params): string | undefined {
		return undefined;
	}

	/** Makes a request of a client, during which the server may log, and ask that client. Rejects as {@link forward} does. */
	request<Method extends keyof Results>(
		request: Request<Method>,
		context: RequestContext = {},
	): Promise<Results[Method]> {
		let asking: Request = request;
		if (this.isStateless && request.method !== "completion/complete") {
			const more = askingParams(context, this.identity.configured);
			asking = { ...request, params: { ...request.params, ...more } };
		} else if (!this.isStateless && this.declares("logging")) {
			this.#wantLogs(context.logLevel);
		}
		return this.forward(asking, context) as Promise<Results[Method]>;
	}

	/**
	 * Makes a request whose parameters are not changed. It is sent before this returns, except over HTTP.
	 *
	 * Rejects with the SDK's ProtocolError when the server answers with an error, and with {@link ServerError} when there is no
	 * valid answer.
	 */
	forward(request: Request, context: RequestContext = {}): Promise<object> {
		if (context.signal?.aborted) {
			return Promise.reject(new ServerError("cancelled", `${request.method} was cancelled`));
		}
		if (!this.isOpen) {
			return Promise.reject(this.lost);
		}
		this.#lastId += 1;
		const pending = new PendingRequest(this.#lastId, request, context, this);
		this.pending.set(pending.id, pending);
		try {
			request.upload?.sent?.(pending.id);
			this.write(pending);
		} catch (error) {
			pending.fail(error as Error);
		}
		return pending.answer;
	}

	/** Returns a whole list, whose items are not checked. Rejects as {@link forward} and {@link readList} do. */
	async list(list: ListName, signal?: AbortSignal): Promise<unknown[]> {
		const { configured } = this.identity;
		return await readList(list, (cursor) => {
			// Devices get the request of their family's protocol, others MCP's.
			const params = configured
				? { ...(cursor !== "" && { cursor }) }
				: { cursor, ...(list === "tools" && { withUserTools: true }) };
			return this.forward({ method: LISTS[list].method, params }, { signal });
		});
	}

	/** Subscribes to updates of a resource, or unsubscribes. Rejects as {@link forward} does. */
	async subscribe(uri: string, wanted = true): Promise<void> {
		await this.forward({ method: wanted ? "resources/subscribe" : "resources/unsubscribe", params: { uri } });
	}

	/** Settles when the server has answered, and everything that it sent earlier has arrived. Rejects after `timeout` ms. */
	async ping(timeout?: number): Promise<void> {
		await this.forward({ method: "ping" }, { timeout });
	}

	/** Sends a message besides MCP to a device: `{type: "tts", state: "start"}`. */
	send(_message: { readonly type: string; readonly [member: string]: unknown }): void {}

	close(reason = "closed by the gateway"): void {
		if (this.isOpen) {
			this.disconnect(reason);
			this.ended(reason);
		}
	}

	/** Notes that the connection has ended. */
	ended(reason: string): void {
		if (this.isOpen) {
			this.#closeReason = reason;
			this.server?.registry.disconnected(this.server, this, reason);
			this.#events?.emit("closed", reason);
			this.failPending();
		}
	}

	/** Removes a request that has an answer, or gets none. */
	settled({ id, request }: PendingRequest, error: Error | undefined): void {
		this.pending.delete(id);
		if (error !== undefined && !ProtocolError.isInstance(error) && isOfClient(request.method)) {
			this.#uncertainUntil = performance.now() + UNANSWERED_TIME;
		}
	}

	/** Reports a message that is not valid, and was dropped. */
	reject(description: string): void {
		this.server?.registry.reject(`${this.identity.id}: ${description.slice(0, MAX_DESCRIPTION)}`);
	}

	/** The error of a request over a connection that has ended. */
	protected get lost(): ServerError {
		return new ServerError("server-disconnected", `${this.identity.id}: ${this.#closeReason}`);
	}

	protected failPending(): void {
		for (const pending of this.pending.values()) {
			pending.fail(this.lost);
		}
	}

	/** Takes a notification of the server. */
	notified(method: string, params: Params): void {
		if (method === "notifications/progress" || method === "notifications/cancelled") {
			this.server?.registry.emit("requestNotification", this.server, method, params);
			return;
		}
		if (method === "notifications/message") {
			this.#logged(params);
		}
		this.server?.notified(this, method, params);
		this.#events?.emit("notification", method, params);
	}

	/** The request that a log message names, if its name is that of a request here. */
	protected requestBy(_id: unknown): PendingRequest | undefined {
		return undefined;
	}

	/** The request of a log message that names none, if it is certain. */
	protected get onlyRequest(): PendingRequest | undefined {
		const [only, another] = [...this.pending.values()].filter(({ request }) => isOfClient(request.method));
		return another === undefined && performance.now() >= this.#uncertainUntil ? only : undefined;
	}

	/** Requests messages of that level from the server, unless already done. Other requests filter for themselves. */
	#wantLogs(level: LogLevel | undefined): void {
		if (level !== undefined && (this.#logLevel === undefined || isBelow(level, this.#logLevel))) {
			this.#logLevel = level;
			// A server that rejects this uses its own level.
			this.forward({ method: "logging/setLevel", params: { level } }).catch(() => {});
		}
	}

	/** Passes a log message to the request that it belongs to. It is dropped if that is not known for certain. */
	#logged(params: Params): void {
		const { [REQUEST_ID]: id } = (params._meta ?? {}) as Params;
		const context = (id === undefined ? this.onlyRequest : this.requestBy(id))?.context;
		const message = readLogMessage(params);
		if (message !== undefined && !isBelow(message.level, context?.logLevel ?? "debug")) {
			context?.onLog?.(message);
		}
	}
}

export interface AudioEvents {
	/** The device's messages about its audio: `listen` and `abort`. */
	message: [message: { readonly type: string; readonly state?: unknown; readonly reason?: unknown }];
	/**
	 * A packet of Opus that the device has recorded; an empty one stands for one that was lost. An Error that a listener throws
	 * counts the packet as dropped.
	 */
	packet: [packet: Uint8Array];
}

/** The way to the speaker and from the microphone of a device of the xiaozhi family. */
export interface AudioChannel extends EventEmitter<AudioEvents> {
	/** Whether packets reach the device. Over UDP they do once it has sent one. */
	readonly isOpen: boolean;
	/** Whether packets may overtake messages, as they do over UDP. */
	readonly mayOvertake: boolean;
	/** Sends a packet of Opus, between `tts` `start` and `stop`. */
	send(packet: Uint8Array): void;
	/** Whether the device listens, as it says. */
	readonly isListening: boolean;
	/** Whether a `listen` message starts and stops the device's microphone, as with firmware of this project. */
	readonly listensOnRequest: boolean;
	/** Recorded packets that were dropped: too many, wrongly framed, or not to be decoded. */
	readonly dropped: number;
}
