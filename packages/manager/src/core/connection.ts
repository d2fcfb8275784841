import { EventEmitter } from "node:events";
import {
	type ClientCapabilities,
	type Implementation,
	type InputResponses,
	type JSONRPCRequest,
	type LoggingLevel,
	ProtocolError,
	type RequestId,
	type ServerCapabilities,
} from "@modelcontextprotocol/client";
import { askingParams, type Question, REVISION_OF_STATELESS, relayedExtensions } from "./asking.js";
import type { AudioLink } from "./audio-link.js";
import { ServerError } from "./errors.js";
import { LISTS, type ListName, type Offers, readList, type ServerTool } from "./offers.js";
import { answerOf, CLIENT_METHODS, type Response, type ResultOf } from "./results.js";
import type { Server, Upload } from "./server.js";

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
	/** URL of the gateway for a device, without a path, from the request of its WebSocket. Absent if unknown. */
	readonly gatewayUrl?: string;
	/** A page that shows it, on this computer. */
	readonly pageUrl?: string;
	/** The gateway of the cluster to which the device is connected. Absent: this one. */
	readonly gateway?: string;
}

/** A server's `serverInfo` in its answer to `initialize`. */
export interface ServerInfo {
	readonly name: string;
	/** A device's firmware version. */
	readonly version: string;
}

/** A server that another gateway has already discovered. */
export interface KnownServer {
	readonly offers: Offers;
	/** The last state that it has reported. */
	readonly state?: string | undefined;
}

/** Events of a connection, for features that follow one server temporarily. */
export interface ConnectionEvents {
	/** A notification of the server, except progress and cancellation. */
	notification: [method: string, params: Readonly<Record<string, unknown>>];
	/** The connection has ended. */
	closed: [reason: string];
}

type Params = Readonly<Record<string, unknown>>;

/** Milliseconds for which a server may still log for a request that was cancelled or timed out. */
const UNANSWERED_TIME = 60_000;

/** The member of `_meta` with which a device names the request of a notification. */
const REQUEST_ID = "xs-mcp/requestId";

/** Characters of a description of an invalid message, for the log. */
const MAX_DESCRIPTION = 200;

/** A connection to a device, a configured server, or a device of another gateway. It reports to its {@link server}. */
export abstract class Connection {
	readonly identity: ServerIdentity;
	/** The registry's server at the other end. */
	server: Server | undefined;
	/** The server's name and version; undefined before the end of the handshake. */
	info: ServerInfo | undefined;
	/** Requests without an answer, by their ids. */
	protected readonly pending = new Map<RequestId, PendingRequest>();
	/** Undefined until a feature follows the connection: there are thousands. */
	#events: EventEmitter<ConnectionEvents> | undefined;
	/** False once it has ended. Set by {@link ended} alone. */
	isOpen = true;
	#closeReason = "";
	/** The first request has id 1: some peers treat 0 as a missing id. */
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

	abstract get capabilities(): ServerCapabilities;

	/** Makes MCP's handshake. Rejects with {@link ServerError} or the SDK's ProtocolError. */
	abstract initialize(capabilities: Capabilities, info: Implementation): Promise<void>;

	/** Sends a request. Throws the error with which it fails at once. */
	protected abstract write(pending: PendingRequest): void;

	/** Tells the server that a request's answer is no longer needed. */
	abstract cancelled(pending: PendingRequest, reason: string): void;

	/** Ends the connection to the server; over MQTT, the session. */
	protected abstract disconnect(reason: string): void;

	/** The discovery by another gateway; undefined if the server has to be asked. */
	get known(): KnownServer | undefined {
		return undefined;
	}

	/** The link to a device's speaker and microphone; undefined if the device cannot exchange packets of Opus. */
	get audio(): AudioLink | undefined {
		return undefined;
	}

	get events(): EventEmitter<ConnectionEvents> {
		this.#events ??= new EventEmitter();
		return this.#events;
	}

	/** Whether it is a device that expects the messages of the xiaozhi family. */
	get isOfFamily(): boolean {
		return !this.identity.configured;
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

	/**
	 * Makes a request. It is sent before this returns, except over HTTP. While a client's request is pending, the server
	 * may send log messages and questions to that client.
	 *
	 * Rejects with the SDK's ProtocolError when the server answers with an error, and with {@link ServerError} when there is no
	 * valid answer.
	 */
	request<Method extends string>(given: Request<Method>, context: RequestContext = {}): Promise<ResultOf<Method>> {
		let request: Request = given;
		const { method, isForwarded } = request;
		if (context.isCancelled ?? context.signal?.aborted) {
			return Promise.reject(new ServerError("cancelled", `${method} was cancelled`));
		}
		if (!this.isOpen) {
			return Promise.reject(this.lost);
		}
		if (CLIENT_METHODS.has(method) && !isForwarded) {
			const { isStateless } = this;
			const { logLevel: level } = context;
			if (isStateless && method !== "completion/complete") {
				request = { ...given, params: { ...given.params, ...askingParams(context, this.identity.configured) } };
			} else if (!isStateless && level !== undefined && this.capabilities.logging !== undefined) {
				if (this.#logLevel === undefined || isBelow(level, this.#logLevel)) {
					this.#logLevel = level;
					// Messages below another request's level are dropped here. A server that rejects this keeps its own level.
					this.request({ method: "logging/setLevel", params: { level } }).catch(() => {});
				}
			}
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
		return pending.answer as Promise<ResultOf<Method>>;
	}

	/** Returns a whole list, whose items are not checked. Rejects as {@link request} and {@link readList} do. */
	async list(list: ListName, signal?: AbortSignal): Promise<unknown[]> {
		return await readList(list, (cursor) => {
			const params = this.isOfFamily
				? { cursor, ...(list === "tools" && { withUserTools: true }) }
				: { ...(cursor !== "" && { cursor }) };
			return this.request({ method: LISTS[list].method, params }, { signal });
		});
	}

	/** Subscribes to updates of a resource, or unsubscribes. Rejects as {@link request} does. */
	async subscribe(uri: string, wanted = true): Promise<void> {
		await this.request({ method: wanted ? "resources/subscribe" : "resources/unsubscribe", params: { uri } });
	}

	/** Settles when the server has answered, and everything that it sent earlier has arrived. Rejects after `timeout` ms. */
	async ping(timeout?: number): Promise<void> {
		await this.request({ method: "ping" }, { timeout });
	}

	/** Sends a device a message that is not MCP: `{type: "tts", state: "start"}`. */
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
			this.isOpen = false;
			this.#closeReason = reason;
			this.server?.registry.disconnected(this.server, this, reason);
			this.#events?.emit("closed", reason);
			this.failPending();
		}
	}

	/** Removes a request that was answered or has failed. */
	settled({ id, request }: PendingRequest, error: Error | undefined): void {
		this.pending.delete(id);
		if (error !== undefined && !ProtocolError.isInstance(error) && CLIENT_METHODS.has(request.method)) {
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

	notified(method: string, params: Params): void {
		if (method === "notifications/progress" || method === "notifications/cancelled") {
			this.server?.registry.emit("requestNotification", this.server, method, params);
			return;
		}
		if (method === "notifications/message") {
			// It belongs to a request. It is dropped if that request is uncertain, or if its level is unknown.
			const { level: given, data, logger, _meta } = params;
			const { [REQUEST_ID]: id } = (_meta ?? {}) as Params;
			const context = (id === undefined ? this.onlyRequest : this.requestBy(id))?.context;
			const level = LEVELS.find((each) => each === given);
			if (level !== undefined && !isBelow(level, context?.logLevel ?? "debug")) {
				context?.onLog?.({ level, data, ...(typeof logger === "string" && { logger }) });
			}
		}
		this.server?.notified(this, method, params);
		this.#events?.emit("notification", method, params);
	}

	/** Returns the pending request with the id in a log message; undefined if there is none. */
	protected requestBy(_id: unknown): PendingRequest | undefined {
		return undefined;
	}

	/** The request of a log message that names none; undefined unless only one is possible. */
	protected get onlyRequest(): PendingRequest | undefined {
		const [only, another] = [...this.pending.values()].filter(({ request }) => CLIENT_METHODS.has(request.method));
		return another === undefined && performance.now() >= this.#uncertainUntil ? only : undefined;
	}
}

/** A level of syslog (RFC 5424 §6.2.1). */
export type LogLevel = LoggingLevel;

/** A log message, as a server sent it. */
export interface LogMessage {
	readonly level: LogLevel;
	readonly data: unknown;
	readonly logger?: string;
}

/** The least severe first. */
const LEVELS: readonly LogLevel[] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/** Whether a level is less severe than another. */
export function isBelow(level: LogLevel, other: LogLevel): boolean {
	return LEVELS.indexOf(level) < LEVELS.indexOf(other);
}

/** A request to a server. */
export interface Request<Method extends string = string> {
	readonly method: Method;
	readonly params?: Readonly<Record<string, unknown>>;
	/** The tool that is called, as listed: its schema may request arguments as HTTP headers (2026-07-28). */
	readonly tool?: ServerTool | undefined;
	/** Learns the request's id before it is sent. */
	readonly upload?: Upload | undefined;
	/** Whether another gateway made it: its parameters are not changed. */
	readonly isForwarded?: boolean;
	/** Time-out in milliseconds, unless its context has one. Default 30,000. */
	readonly timeout?: number | undefined;
}

/** The client that makes a request, and how it is involved until the answer. */
export interface RequestContext {
	/** The caller, for the record: a token's name, or "local". */
	readonly principal?: string | undefined;
	/** The application that calls, as it names itself: for the record. */
	readonly clientName?: string | undefined;
	/** Time-out in milliseconds, which progress restarts. Default: the request's. */
	readonly timeout?: number | undefined;
	readonly signal?: AbortSignal | undefined;
	/** Whether the caller has cancelled. Default: whether the signal is aborted. */
	readonly isCancelled?: boolean;
	/** Objects to cancel with the request. Default: they listen to the signal, at a thirtieth of a call's CPU. */
	readonly awaited?: Set<Cancellable> | undefined;
	/** Called with each progress notification of the request. */
	readonly onProgress?: ((progress: Readonly<Record<string, unknown>>) => void) | undefined;
	/** Called with each log message of the request that is at least as severe as {@link logLevel}. */
	onLog?(message: LogMessage): void;
	/** The least severe log messages that are wanted. Default: the server decides. */
	readonly logLevel?: LogLevel | undefined;
	/** The client's capabilities, which limit what a server may ask during the request. Default: none. */
	readonly capabilities?: ClientCapabilities | undefined;
	/** The client's answers to the questions of the previous request, by their keys. */
	readonly inputResponses?: InputResponses | undefined;
	/** Opaque state for the server, sent back with the answers. */
	readonly requestState?: string | undefined;
	/** The client's session. Default: each request is another client's. */
	readonly session?: object | undefined;
	/** Asks the client during the request. Rejects with its error. Default: servers can ask only through the result. */
	ask?(question: Question, signal: AbortSignal): Promise<object>;
}

/** Something that is cancelled with the caller's request. It can listen to an AbortSignal. */
export interface Cancellable {
	handleEvent(): void;
}

/** The listeners of a signal as a set. */
export function listenersOf(signal: AbortSignal | undefined) {
	return (
		signal && {
			add: (each: Cancellable) => signal.addEventListener("abort", each, { once: true }),
			delete: (each: Cancellable) => signal.removeEventListener("abort", each),
		}
	);
}

const REQUEST_TIMEOUT = 30_000;

/** The longest time of a request in milliseconds, even with progress and questions. */
export const MAX_REQUEST_TIME = 3_600_000;

/** A request without an answer: its time-out, progress and cancellation. */
export class PendingRequest {
	readonly id: RequestId;
	readonly request: Request;
	readonly context: RequestContext;
	readonly connection: Connection;
	/** Time-out in milliseconds. */
	readonly timeout: number;
	/** The request as it is sent: with a progress token if the client wants progress. Its id comes first. */
	readonly message: JSONRPCRequest;
	/** Rejects with {@link ServerError}, or with the SDK's ProtocolError for an error of the server. */
	readonly answer: Promise<object>;
	readonly #awaited: Set<Cancellable> | ReturnType<typeof listenersOf>;
	readonly #end = performance.now() + MAX_REQUEST_TIME;
	#resolve!: (result: object) => void;
	#reject!: (error: Error) => void;
	#timer: NodeJS.Timeout | undefined;
	/** Questions that await an answer of the client. */
	#questions = 0;
	#isSettled = false;

	constructor(id: RequestId, request: Request, context: RequestContext, connection: Connection) {
		this.id = id;
		this.request = request;
		this.context = context;
		this.connection = connection;
		this.timeout = context.timeout ?? request.timeout ?? REQUEST_TIMEOUT;
		const { method, params } = request;
		this.message =
			context.onProgress === undefined
				? { jsonrpc: "2.0", id, method, ...(params && { params }) }
				: { jsonrpc: "2.0", id, method, params: { ...params, _meta: { ...Object(params?._meta), progressToken: id } } };
		this.answer = new Promise((resolve, reject) => {
			this.#resolve = resolve;
			this.#reject = reject;
		});
		this.#awaited = context.awaited ?? listenersOf(context.signal);
		this.#awaited?.add(this);
		this.#restart();
	}

	/** Settles the request with the response, or with the error that replaces it. */
	answered(response: Response | Error): void {
		if (this.#isSettled) {
			return;
		}
		let answer: object;
		try {
			answer = response instanceof Error ? response : answerOf(this.request.method, response);
		} catch (error) {
			answer = error as Error;
		}
		const error = answer instanceof Error ? answer : undefined;
		this.#isSettled = true;
		clearTimeout(this.#timer);
		this.#awaited?.delete(this);
		this.connection.settled(this, error);
		if (error === undefined) {
			this.#resolve(answer);
		} else {
			this.#reject(error);
		}
	}

	/** Settles the request without a result. */
	fail(error: Error): void {
		this.answered(error);
	}

	/** Forwards progress, and restarts the time-out. */
	progressed(progress: Readonly<Record<string, unknown>>): void {
		this.#restart();
		this.context.onProgress?.(progress);
	}

	/** Suspends the time-out while the client answers a question of the server. */
	async pauseFor<Answer>(answer: Promise<Answer>): Promise<Answer> {
		this.#questions += 1;
		this.#restart();
		try {
			return await answer;
		} finally {
			this.#questions -= 1;
			this.#restart();
		}
	}

	/** Cancels the request: the client has cancelled its own. */
	handleEvent(): void {
		this.#cancel("cancelled", `${this.request.method} was cancelled`, String(this.context.signal?.reason));
	}

	#restart(): void {
		clearTimeout(this.#timer);
		if (!this.#isSettled && this.#questions === 0) {
			const expire = (): void => {
				const problem = `no answer to ${this.request.method} within ${this.timeout} ms`;
				this.#cancel("timeout", problem, "Request timed out");
			};
			this.#timer = setTimeout(expire, Math.min(this.timeout, this.#end - performance.now()));
		}
	}

	#cancel(code: "cancelled" | "timeout", problem: string, reason: string): void {
		this.fail(new ServerError(code, problem));
		this.connection.cancelled(this, reason);
	}
}
