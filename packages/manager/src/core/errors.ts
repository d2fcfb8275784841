import { setTimeout as delay } from "node:timers/promises";
import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/client";
import * as z from "zod";
import type { ServerTool } from "./offers.js";

/** JSON-RPC 2.0 §5.1: a server-defined error. The SDK uses it for HTTP errors and lost connections, too. */
export const SERVER_ERROR = -32_000;

/**
 * Every reason why a server could not answer. Stable: sent to clients as `xs-mcp/error`, and a metric's label. Effect "none": the
 * call was not carried out. "unknown": perhaps it was. "final": another attempt would fail, too.
 */
const FAILURES = {
	timeout: { managerCode: "TIMEOUT", effect: "unknown" },
	"server-disconnected": { managerCode: "CONNECTION_LOST", effect: "unknown" },
	/** The server was offline and did not come back in time, or could not be reached. Nothing was sent. */
	"server-offline": { managerCode: "CONNECTION_FAILED", effect: "none" },
	/** The arguments do not match the tool's schema. Nothing was sent. */
	"invalid-arguments": { managerCode: "INVALID_PARAMS", effect: "final" },
	/** The server's queue is full. Nothing was sent. */
	"queue-full": { managerCode: "RATE_LIMIT_EXCEEDED", effect: "none" },
	/** The server rejected the request: rate limit. It was not carried out. */
	"rate-limited": { managerCode: "RATE_LIMIT_EXCEEDED", effect: "none" },
	/** The server rejected the request: the credentials are missing, wrong or insufficient. */
	"permission-denied": { managerCode: "PERMISSION_DENIED", effect: "final" },
	/** The caller cancelled, or the program is shutting down. */
	cancelled: { managerCode: "EXECUTION_FAILED", effect: "final" },
	"invalid-result": { managerCode: "EXECUTION_FAILED", effect: "final" },
	/** The call failed again after every retry that the server's policy allows. */
	"retries-exceeded": { managerCode: "MAX_RETRIES_EXCEEDED", effect: "final" },
} as const satisfies Record<string, { readonly managerCode: string; readonly effect: "none" | "unknown" | "final" }>;

/** Why a server could not answer. */
export type ServerErrorCode = keyof typeof FAILURES;

/** Whether a text is a known code. Other versions may have more. */
export function isServerErrorCode(text: unknown): text is ServerErrorCode {
	return typeof text === "string" && Object.hasOwn(FAILURES, text);
}

/** The codes of the manager's errors. */
export type McpErrorCode =
	| (typeof FAILURES)[ServerErrorCode]["managerCode"]
	| "INVALID_REQUEST"
	| "METHOD_NOT_FOUND"
	| "TOOL_NOT_FOUND"
	| "RESOURCE_NOT_FOUND";

/** The message of an error for people. It replaces that of Zod, which lists members of schemas. */
export function messageOf({ name, message }: Error): string {
	return /^\$?ZodError$/.test(name) ? "what the server sent is not a message of MCP" : message;
}

/** Returns {@link messageOf} with the message of the error's cause, where `fetch` has its reason. */
export function reasonOf(error: unknown): string {
	const message = messageOf(error as Error);
	const { cause } = error as Error;
	const detail = cause instanceof AggregateError ? cause.errors[0] : cause;
	return detail instanceof Error ? `${message}: ${detail.message}` : message;
}

type Issue = Pick<z.core.$ZodIssue, "path" | "message">;

const MAX_ISSUES = 5;

/** Describes invalid members, each by its name: "arguments.above: expected number, received string". `root` names the value itself. */
export function describeIssues(issues: readonly Issue[] | undefined = [], root: string): string {
	const texts = issues.map((issue) => `${issue.path.join(".") || root}: ${describeIssue(issue)}`);
	return texts.slice(0, MAX_ISSUES).join("; ");
}

/** Describes an issue in plain words, without the name of the member. */
export function describeIssue({ message }: Pick<Issue, "message">): string {
	return message
		.replace(/^Invalid input: expected (\w+), received undefined$/, "required ($1)")
		.replace(/^(?:Invalid (?:input|option|string)|Too (?:small|big)): /, "")
		.replace(/^Unrecognized (keys?): /, "unknown $1 ")
		.replace(/^Invalid input$/, "not a valid value");
}

/** An error with a code. The manager's methods reject with codes of {@link McpErrorCode} only. */
export class McpError<Code extends ServerErrorCode | McpErrorCode = McpErrorCode> extends Error {
	override readonly name: string = "McpError";
	readonly code: Code;
	/** The result of a tool that failed, or the invalid member of a server's entry. */
	readonly details: unknown;
	/** Whether it can be repeated without doing its work twice. */
	readonly retryable: boolean;
	/** "rate-limited": milliseconds after which the server may be asked again; undefined if it names no time. */
	readonly retryAfter: number | undefined;

	constructor(
		code: Code,
		message: string,
		options: ErrorOptions & Partial<Pick<McpError, "details" | "retryable" | "retryAfter">> = {},
	) {
		const { details, retryable = false, retryAfter } = options;
		super(message, "cause" in options ? { cause: options.cause } : {});
		this.code = code;
		this.details = details;
		this.retryable = retryable;
		this.retryAfter = retryAfter;
	}
}

/** Error of a server that did not answer, or to which nothing was sent. */
export class ServerError extends McpError<ServerErrorCode> {
	override readonly name = "ServerError";
}

const OF_PROTOCOL_ERROR: Readonly<Record<number, McpErrorCode>> = {
	[ProtocolErrorCode.InvalidRequest]: "INVALID_REQUEST",
	[ProtocolErrorCode.MethodNotFound]: "METHOD_NOT_FOUND",
	[ProtocolErrorCode.InvalidParams]: "INVALID_PARAMS",
	[ProtocolErrorCode.ResourceNotFound]: "RESOURCE_NOT_FOUND",
};

/** The entry of an error in {@link FAILURES}; undefined for other errors than ServerError. */
function failureOf(error: unknown) {
	return error instanceof ServerError ? FAILURES[error.code] : undefined;
}

/** Converts the error of a call to one with a code for the manager's callers. */
export function toMcpError(error: unknown, tool?: ServerTool): McpError {
	const failure = failureOf(error);
	if (error instanceof McpError && failure === undefined) {
		return error;
	}
	const { message, data } = error as Error & { data?: unknown };
	const ofProtocol = ProtocolError.isInstance(error) ? OF_PROTOCOL_ERROR[error.code] : undefined;
	const code = failure?.managerCode ?? ofProtocol ?? "EXECUTION_FAILED";
	return new McpError(code, message, { details: data, retryable: isSafeToRetry(error, tool) });
}

/** Runs a task, and gives its errors a code for the manager's callers. */
export async function translated<T>(task: () => Promise<T>): Promise<T> {
	try {
		return await task();
	} catch (error) {
		throw toMcpError(error);
	}
}

/** Wraps a task: calls during a run share its result. */
export function shared<Args extends unknown[], Result>(task: (...args: Args) => Promise<Result>) {
	let running: Promise<Result> | undefined;
	return (...args: Args): Promise<Result> => {
		running ??= task(...args).finally(() => {
			running = undefined;
		});
		return running;
	};
}

/** The `data` of an error that replaces an invalid response. A string, because messages over HTTP are parsed twice. */
export const INVALID_RESPONSE = "xs-mcp/invalid-response";

/** The error of an error response: the SDK's ProtocolError, or the ServerError with which a transport replaces a response. */
export function responseError({ code, message, data }: { code: number; message: string; data?: unknown }): Error {
	if (data === INVALID_RESPONSE) {
		return new ServerError("invalid-result", message);
	}
	return data instanceof ServerError ? data : ProtocolError.fromError(code, message, data);
}

/** How often, and after how long, a call or a connection is tried again. Delays in milliseconds. */
export const RETRY_POLICY = z.strictObject({
	maxRetries: z.int().min(0).max(100).default(3).describe("How often it is tried again"),
	initialDelay: z.int().min(0).max(300_000).default(1_000).describe("Milliseconds before the first retry"),
	maxDelay: z.int().min(0).max(300_000).default(10_000).describe("The longest delay in milliseconds"),
	backoffMultiplier: z
		.number()
		.min(1)
		.max(10)
		.default(2)
		.describe("By how much each delay is longer than the one before"),
	retryableErrors: z
		.array(z.string())
		.optional()
		.describe("Error codes for which a call is made again, such as CONNECTION_FAILED. Default: all that are safe"),
});

export type RetryPolicy = z.output<typeof RETRY_POLICY>;

/**
 * Milliseconds to wait before the next attempt: three quarters to the whole of the step, at random, so that clients of a restarted
 * server do not all reconnect at once. `retries` is 0 before the first one.
 */
export function backoff(
	policy: Pick<RetryPolicy, "initialDelay" | "maxDelay"> & Partial<RetryPolicy>,
	retries: number,
) {
	const { initialDelay, maxDelay, backoffMultiplier = 2 } = policy;
	return Math.min(initialDelay * backoffMultiplier ** retries, maxDelay) * (0.75 + Math.random() / 4);
}

/**
 * Waits before the retry of a call, which is possible if nothing was sent, or if the tool is read-only or idempotent.
 * Rejects with the call's error if it is not retried, and with ServerError "retries-exceeded" after the last retry.
 */
export async function waitForRetry(
	error: unknown,
	tool: ServerTool | undefined,
	policy: RetryPolicy | undefined,
	retries: number,
	signal: AbortSignal | undefined,
): Promise<void> {
	const isWanted = policy?.retryableErrors?.includes(toMcpError(error).code) !== false;
	if (!policy?.maxRetries || !isWanted || !isSafeToRetry(error, tool)) {
		throw error;
	}
	if (retries === policy.maxRetries) {
		const message = `Failed after ${retries} retries: ${(error as Error).message}`;
		throw new ServerError("retries-exceeded", message, { cause: error });
	}
	await delay(backoff(policy, retries), undefined, { signal }).catch(() => {
		throw new ServerError("cancelled", "the call was cancelled");
	});
}

/** Whether a call that failed with this error may be made again without doing its work twice. */
function isSafeToRetry(error: unknown, tool?: ServerTool): boolean {
	const { readOnlyHint = false, idempotentHint = false } = tool?.annotations ?? {};
	const effect = failureOf(error)?.effect;
	return effect === "none" || (effect === "unknown" && (readOnlyHint || idempotentHint));
}
