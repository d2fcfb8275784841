import { setTimeout as delay } from "node:timers/promises";
import {
	type AuthProvider,
	InsufficientScopeError,
	isJSONRPCErrorResponse,
	isJSONRPCNotification,
	isJSONRPCRequest,
	type JSONRPCErrorResponse,
	type JSONRPCMessage,
	type JSONRPCRequest,
	type OAuthClientProvider,
	ProtocolErrorCode,
	type RequestId,
	SdkHttpError,
	SSEClientTransport,
	type SseError,
	StreamableHTTPClientTransport,
	type Transport,
	type TransportSendOptions,
	UnauthorizedError,
	type VersionNegotiationMode,
} from "@modelcontextprotocol/client";
import { REVISION_OF_STATELESS } from "../core/asking.js";
import { reasonOf, SERVER_ERROR, ServerError, type ServerErrorCode } from "../core/errors.js";
import { flawOf, MAX_NESTING, RateLimit } from "../core/received.js";
import { readResult } from "../core/results.js";
import { httpFailure, isReached, isUnsent, makeCarefulFetch } from "./careful-fetch.js";
import { makeWebSocketTransport, ProcessTransport } from "./process-transport.js";
import type { ServerConfig } from "./server-config.js";
import { SignedIn } from "./sign-ins.js";

/** Authentication of each request over HTTP. */
export type Auth = AuthProvider | OAuthClientProvider;

/** The longest time in milliseconds that a request over HTTP waits for a server that limits its rate. */
const MAX_PATIENCE = 30_000;

/**
 * HTTP 404: the server does not know the session any more (MCP, "Session Management"). 400: the same, from many servers that
 * were restarted.
 */
const SESSION_UNKNOWN: ReadonlySet<number> = new Set([400, 404]);

/** JSON-RPC 2.0 §5.1: the least code of a server-defined error. */
const MIN_SERVER_ERROR = -32_099;

const STATELESS_ONLY = { pin: REVISION_OF_STATELESS };

/** Statuses with which SSE-only servers reject `initialize` (MCP 2025-11-25, Transports, "Backwards Compatibility"). */
const NOT_STREAMABLE: ReadonlySet<number> = new Set([400, 404, 405]);

/** Milliseconds that a server has to answer the probe of 2026-07-28. Without an answer, an older revision is tried. */
const PROBE_TIME = 10_000;

/** Milliseconds for telling a server over HTTP that the session is over. */
const FAREWELL_TIME = 1_000;

/**
 * Maximum messages of a server per second, invalid ones included, but not answers. It is the same limit as for devices.
 * A server that exceeds it is disconnected, and reconnected by its retry policy.
 */
const MAX_MESSAGES_PER_SECOND = 1_000;

/** Characters of a reason: some servers answer with whole pages. */
const MAX_REASON = 500;

/** Characters of a message that is not MCP, for the reason. */
const MAX_QUOTE = 100;

/** One connection to a configured server. On any transport it ends once, with a reason. */
export class ConfiguredTransport implements Transport {
	onmessage?: Transport["onmessage"];
	onclose?: () => void;
	/** Called for dropped messages and for connection problems. */
	onerror?: (error: Error) => void;
	/** Called with each line that a server over stdio writes to standard error, within limits. */
	onstderr?: (line: string) => void;
	/** Called if the connection may be broken. */
	ontrouble?: () => void;
	readonly negotiation: VersionNegotiationMode;
	/** Why it has ended; empty before. */
	closeReason = "";
	/** The error for a rejected connection, if the server gave a reason. */
	refusal: ServerError | undefined;
	/** The last error, used as the reason of a failed connection; empty without one. */
	trouble = "";
	/**
	 * The transport to try after the server has rejected `initialize`: SSE, if it may have nothing else over HTTP, or else
	 * revisions without `initialize`. Undefined: none.
	 */
	fallback: ConfiguredTransport | undefined;
	readonly #config: ServerConfig;
	/** Milliseconds that a request over HTTP may wait for a server that limits its rate. */
	readonly #patience: number;
	readonly #transport: Transport;
	readonly #auth: Auth | undefined;
	/** Methods of the requests that await an answer, by id. */
	readonly #unanswered = new Map<RequestId, string>();
	/** The error with which the server has answered `initialize`. */
	#rejection: string | undefined;
	readonly #rate = new RateLimit(MAX_MESSAGES_PER_SECOND);
	#started = false;
	/** Whether the revision is one without sessions: 2026-07-28 and later. */
	#isModern = false;
	#isClosed = false;
	#closed: Promise<void> | undefined;

	/**
	 * @param auth the authentication of each request over HTTP. Default: the headers
	 * @param patience milliseconds that a request over HTTP may wait for a server that limits its rate. Default: half of
	 * a call's time-out, so that the call fails with the server's error, and not for lack of an answer
	 * @param negotiation which revisions are tried. Default: over HTTP, `server/discover` comes first. Other transports start with
	 * `initialize`, because some servers exit at any other message
	 */
	constructor(
		config: ServerConfig,
		auth?: Auth,
		patience = Math.min(config.timeout / 2, MAX_PATIENCE),
		negotiation: VersionNegotiationMode = config.transport === "http" ? "auto" : "legacy",
	) {
		this.#config = config;
		this.#auth = auth;
		this.#patience = patience;
		this.negotiation = negotiation;
		this.#transport = this.#makeTransport();
	}

	#makeTransport(): Transport {
		const { transport, url, headers } = this.#config;
		switch (transport) {
			case "stdio":
				return new ProcessTransport(this.#config, (line) => this.onstderr?.(line));
			case "http":
				// Only a person can grant more scopes.
				return new StreamableHTTPClientTransport(new URL(url), { ...this.#httpOptions, onInsufficientScope: "throw" });
			case "sse":
				// The URL behind `sse://`, `http+sse://` and `https+sse://`.
				return new SSEClientTransport(
					new URL(url.replace(/^(?:http\+)?sse:\/\//i, "http://").replace(/^https\+sse:\/\//i, "https://")),
					this.#httpOptions,
				);
			case "websocket":
				return makeWebSocketTransport(url, headers);
		}
	}

	get #httpOptions() {
		return {
			requestInit: { headers: this.#config.headers },
			fetch: makeCarefulFetch(this.#patience, (reason) => this.#end(reason)),
			...(this.#auth && { authProvider: this.#auth }),
		};
	}

	/** Whether each request has its own response stream. Since 2026-07-28, closing that cancels the request. */
	get hasPerRequestStream(): boolean {
		return this.#transport.hasPerRequestStream === true;
	}

	/** "stdio", "http", "sse" or "websocket". */
	get type(): ServerConfig["transport"] {
		return this.#config.transport;
	}

	async start(): Promise<void> {
		const transport = this.#transport;
		transport.onmessage = (message, extra) => {
			const method = this.#takeRequest(message);
			if (isJSONRPCErrorResponse(message) && method === "initialize") {
				this.#rejection = message.error.message;
				if (this.negotiation === "legacy") {
					this.fallback = new ConfiguredTransport(this.#config, this.#auth, this.#patience, STATELESS_ONLY);
				}
			}
			if (this.#isWithinRate(method !== undefined)) {
				const isResult = "result" in message && method !== undefined;
				this.onmessage?.(isResult ? { ...message, result: readResult(method, message.result) } : message, extra);
			}
		};
		transport.onclose = () => {
			const isProcess = transport instanceof ProcessTransport;
			this.#end(isProcess ? transport.exitReason : `the server closed the connection${this.trouble}`);
		};
		transport.onerror = (error) => this.#failed(error);
		try {
			await transport.start();
			this.#started = true;
		} catch (error) {
			const reason = reasonOf(error);
			const isRefused = [401, 403].includes((error as SseError).code ?? 0);
			const refused = isRefused ? new ServerError("permission-denied", reason, { cause: error }) : undefined;
			this.refusal = error instanceof ServerError ? error : refused;
			this.#end(reason);
			throw error;
		}
	}

	async send(message: JSONRPCMessage, given?: TransportSendOptions): Promise<void> {
		let options = given;
		if (flawOf(message, MAX_NESTING) === "depth") {
			throw new ServerError("invalid-arguments", `message nested deeper than ${MAX_NESTING} levels`);
		}
		if (isJSONRPCRequest(message)) {
			this.#unanswered.set(message.id, message.method);
			const unanswered = errorWith("server-disconnected", "the response ended without an answer");
			options = { onRequestStreamEnd: () => this.#failRequest(message.id, unanswered), ...given };
		} else if (isJSONRPCNotification(message) && message.method === "notifications/cancelled") {
			this.#unanswered.delete(message.params?.requestId as RequestId);
		}
		try {
			await (isProbe(message) ? this.#probe(message, options) : this.#transport.send(message, options));
		} catch (error) {
			let cause = error;
			if (error instanceof InsufficientScopeError) {
				// The request needs more than the token allows: the connection continues.
				cause =
					this.#auth instanceof SignedIn
						? await this.#auth.missScope(error)
						: new ServerError("permission-denied", `HTTP 403: ${error.message}`, { cause: error });
			}
			if (isJSONRPCNotification(message) && cause instanceof SdkHttpError) {
				// Some servers reject notifications. If the session is lost, the next request will show it.
				this.onerror?.(httpFailure(cause));
				return;
			}
			throw this.#failedToSend(message, cause, options);
		}
	}

	/** Returns the method of the request that a message answers, and removes that request. Undefined if it answers none. */
	#takeRequest(message: JSONRPCMessage): string | undefined {
		if ("method" in message) {
			return undefined;
		}
		const id = message.id as RequestId;
		const method = this.#unanswered.get(id);
		this.#unanswered.delete(id);
		return method;
	}

	/** Answers a request with an error, unless it was answered or cancelled. */
	#failRequest(id: RequestId, error: JSONRPCErrorResponse["error"]): void {
		const answer = { jsonrpc: "2.0", id, error } as const;
		if (this.#takeRequest(answer) !== undefined) {
			this.onmessage?.(answer);
		}
	}

	/** Sends the probe. If the server rejects it or does not answer, the client tries an older revision. */
	async #probe(message: JSONRPCRequest, options?: TransportSendOptions): Promise<void> {
		const refuse = (): void =>
			this.#failRequest(message.id, { code: ProtocolErrorCode.MethodNotFound, message: "not supported" });
		const timer = setTimeout(refuse, PROBE_TIME).unref();
		try {
			await this.#transport.send(message, options);
		} catch (error) {
			// No connection, no sign-in or too many requests: an older revision would fail in the same way.
			if (!isReached(error) || error instanceof ServerError || error instanceof UnauthorizedError) {
				throw error;
			}
			refuse();
		} finally {
			clearTimeout(timer);
		}
	}

	/** @returns the error for the sender of the message; the connection ends if it cannot be used any more */
	#failedToSend(message: JSONRPCMessage, error: unknown, options?: TransportSendOptions): Error {
		const isHttp = error instanceof SdkHttpError;
		const failure = isHttp ? httpFailure(error) : (error as Error);
		const isFirst = isJSONRPCRequest(message) && (message.method === "initialize" || isProbe(message));
		const isServerError = failure instanceof ServerError;
		if (
			options?.requestSignal?.aborted ||
			(isHttp && !isFirst && !isServerError && this.#answersWith(message, error))
		) {
			return failure;
		}
		if (!isFirst && error instanceof TypeError && error.cause === undefined) {
			return new ServerError("invalid-arguments", `not JSON: ${error.message}`, { cause: error });
		}
		const reason = isHttp ? failure.message : reasonOf(error);
		// A ServerError: there is no sign-in, or there were too many requests. The connection is kept.
		const isRefused =
			error instanceof ServerError || (isHttp && (!SESSION_UNKNOWN.has(error.status) || this.#isModern));
		const { transport, isTransportGiven } = this.#config;
		if (isFirst && isHttp && NOT_STREAMABLE.has(error.status) && transport === "http" && !isTransportGiven) {
			this.fallback = new ConfiguredTransport({ ...this.#config, transport: "sse" }, this.#auth, this.#patience);
		}
		if (isFirst || !isRefused) {
			this.refusal = isServerError ? failure : undefined;
			if (isJSONRPCRequest(message) && isUnsent(error, transport)) {
				// The request did not reach the server, and is safe to repeat.
				this.#failRequest(message.id, errorWith("server-offline", reason));
			}
			this.#end(reason);
		}
		return failure;
	}

	/**
	 * Delivers the JSON-RPC error of the request in an HTTP response, if there is one. Since 2026-07-28 these have statuses: 404 is
	 * "method not found". Earlier, a server-defined one may mean that the session is not known.
	 */
	#answersWith(message: JSONRPCMessage, { data, status }: SdkHttpError): boolean {
		try {
			const { text } = data as { text?: string | null };
			const answer: unknown = JSON.parse(text ?? "");
			if (!isJSONRPCRequest(message) || !isJSONRPCErrorResponse(answer) || answer.id !== message.id) {
				return false;
			}
			const { code } = answer.error;
			if (!this.#isModern && SESSION_UNKNOWN.has(status) && code >= MIN_SERVER_ERROR && code <= SERVER_ERROR) {
				return false;
			}
			this.#failRequest(message.id, answer.error);
			return true;
		} catch {
			return false;
		}
	}

	setProtocolVersion(version: string): void {
		this.#isModern = version >= REVISION_OF_STATELESS;
		this.#transport.setProtocolVersion?.(version);
	}

	/** Ends the connection, and the process if there is one. Settles when it has ended. */
	async close(reason = this.#rejection ?? `the connection was closed${this.trouble}`): Promise<void> {
		this.#end(reason);
		await this.#closed;
	}

	#end(reason: string): void {
		if (!this.#isClosed) {
			this.#isClosed = true;
			this.closeReason = reason.slice(0, MAX_REASON);
			this.#closed = this.#closeTransport().catch(() => {});
			this.onclose?.();
		}
	}

	async #closeTransport(): Promise<void> {
		const transport = this.#transport;
		if (transport instanceof StreamableHTTPClientTransport) {
			const farewell = transport.terminateSession().catch(() => {});
			await Promise.race([farewell, delay(FAREWELL_TIME, undefined, { ref: false })]);
		}
		await transport.close();
	}

	/** Counts a message unless it is an answer, and closes the connection above the limit. Returns whether it is still open. */
	#isWithinRate(isAnswer = false): boolean {
		if (!this.#isClosed && !isAnswer && !this.#rate.take()) {
			this.#end(`more than ${MAX_MESSAGES_PER_SECOND} messages in a second`);
		}
		return !this.#isClosed;
	}

	#failed(error: Error): void {
		if (!this.#isWithinRate()) {
			return;
		}
		const reason = reasonOf(error);
		this.trouble = ` (${reason.slice(0, MAX_QUOTE)})`;
		this.onerror?.(new Error(reason));
		// The SSE stream is the session. The SDK's client would reopen it, but the server would not know the session.
		if (this.#started && this.type === "sse") {
			this.#end(`the SSE stream ended: ${reason}`);
		} else if (this.#started && this.#config.transport === "http") {
			this.ontrouble?.();
		}
	}
}

/** The error response that becomes a ServerError: see {@link responseError}. */
function errorWith(code: ServerErrorCode, message: string): JSONRPCErrorResponse["error"] {
	return { code: SERVER_ERROR, message, data: new ServerError(code, message) };
}

function isProbe(message: JSONRPCMessage): message is JSONRPCRequest {
	return isJSONRPCRequest(message) && message.method === "server/discover" && typeof message.id === "string";
}
