import type {
	ClientCapabilities,
	InputResponses,
	JSONRPCErrorResponse,
	LoggingLevel,
	RequestId,
} from "@modelcontextprotocol/client";
import type { Question } from "./asking.js";
import type { Upload } from "./calls.js";
import type { Connection } from "./connection.js";
import { responseError, ServerError } from "./errors.js";
import type { ServerTool } from "./offers.js";
import { answerOf } from "./results.js";

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

/** Reads a log message from its notification. Undefined if its level is unknown. */
export function readLogMessage({ level, data, logger }: Readonly<Record<string, unknown>>): LogMessage | undefined {
	const known = LEVELS.find((each) => each === level);
	return known && { level: known, data, ...(typeof logger === "string" && { logger }) };
}

/** A request to a server. */
export interface Request<Method extends string = string> {
	readonly method: Method;
	readonly params?: Readonly<Record<string, unknown>>;
	/** The tool that is called, as listed: its schema may request arguments as HTTP headers (2026-07-28). */
	readonly tool?: ServerTool | undefined;
	/** Learns the request's id before it is sent. */
	readonly upload?: Upload | undefined;
	/** Whether it is another gateway's: its parameters are not changed. */
	readonly isForwarded?: boolean;
	/** Milliseconds until it has failed, unless its context says otherwise. Default 30,000. */
	readonly timeout?: number | undefined;
}

/** The client that makes a request, and what it wants during the request. */
export interface RequestContext {
	/** The caller, for the record: a token's name, or "local". */
	readonly principal?: string | undefined;
	/** The application that calls, as it names itself: for the record. */
	readonly clientName?: string | undefined;
	/** Milliseconds until the request has failed; progress starts them again. Default: those of the request. */
	readonly timeout?: number | undefined;
	readonly signal?: AbortSignal | undefined;
	/** Is called with each progress notification of the request. */
	readonly onProgress?: ((progress: Readonly<Record<string, unknown>>) => void) | undefined;
	/** Is called with each log message of the request that is at least as severe as {@link logLevel}. */
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
	/** Asks the client during the request. Rejects with its error. Default: it can be asked only by the result. */
	ask?(question: Question, signal: AbortSignal): Promise<object>;
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
	/** Rejects with {@link ServerError}, or with the SDK's ProtocolError for an error of the server. */
	readonly answer: Promise<object>;
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
		this.answer = new Promise((resolve, reject) => {
			this.#resolve = resolve;
			this.#reject = reject;
		});
		context.signal?.addEventListener("abort", this, { once: true });
		this.#restart();
	}

	/** Milliseconds until the request has failed. */
	get timeout(): number {
		return this.context.timeout ?? this.request.timeout ?? REQUEST_TIMEOUT;
	}

	/** The request as it is sent: with a progress token if the client wants progress. */
	get message(): { readonly method: string; readonly params?: Record<string, unknown> } {
		const { method, params } = this.request;
		if (this.context.onProgress === undefined) {
			return { method, ...(params && { params }) };
		}
		const _meta = { ...(params?._meta as object | undefined), progressToken: this.id };
		return { method, params: { ...params, _meta } };
	}

	/** Settles the request with a response of the server. */
	answered(response: { readonly result?: unknown; readonly error?: JSONRPCErrorResponse["error"] | undefined }): void {
		const { result, error } = response;
		if (error !== undefined) {
			this.fail(responseError(error));
			return;
		}
		try {
			const answer = answerOf(this.request.method, result);
			this.#settle(undefined);
			this.#resolve(answer);
		} catch (invalid) {
			this.fail(invalid as Error);
		}
	}

	/** Settles the request without a result. */
	fail(error: Error): void {
		this.#settle(error);
		this.#reject(error);
	}

	/** Passes progress on. The request has its time again. */
	progressed(progress: Readonly<Record<string, unknown>>): void {
		this.#restart();
		this.context.onProgress?.(progress);
	}

	/** Stops the time while the client answers a question of the server. */
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

	/** Handles the abortion of the client's signal. */
	handleEvent(): void {
		const error = new ServerError("cancelled", `${this.request.method} was cancelled`);
		this.#cancel(error, String(this.context.signal?.reason));
	}

	#restart(): void {
		clearTimeout(this.#timer);
		if (!this.#isSettled && this.#questions === 0) {
			const rest = this.#end - performance.now();
			const error = (): ServerError =>
				new ServerError("timeout", `no answer to ${this.request.method} within ${this.timeout} ms`);
			this.#timer = setTimeout(() => this.#cancel(error(), "Request timed out"), Math.min(this.timeout, rest));
		}
	}

	#cancel(error: ServerError, reason: string): void {
		this.fail(error);
		this.connection.cancelled(this, reason);
	}

	#settle(error: Error | undefined): void {
		if (!this.#isSettled) {
			this.#isSettled = true;
			clearTimeout(this.#timer);
			this.context.signal?.removeEventListener("abort", this);
			this.connection.settled(this, error);
		}
	}
}
