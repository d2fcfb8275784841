import { SdkHttpError } from "@modelcontextprotocol/client";
import { ServerError } from "../core/errors.js";

/** Characters of a body that are quoted: some servers answer with whole pages. */
const MAX_BODY = 300;

/** With these errors of `fetch`, there was no connection that the request could have been sent over. */
const NOT_REACHED: ReadonlySet<unknown> = new Set(
	"ECONNREFUSED EHOSTUNREACH ENETUNREACH ENOTFOUND EAI_AGAIN UND_ERR_CONNECT_TIMEOUT".split(" "),
);

/** HTTP 429: a server has had too many requests. */
export class RateLimitError extends ServerError {
	/** Milliseconds after which the server may be asked again; undefined if it names no time. */
	readonly retryAfter: number | undefined;

	constructor(message: string, retryAfter: number | undefined) {
		const hint = retryAfter === undefined ? "" : ` (try again in ${Math.ceil(retryAfter / 1_000)} s)`;
		super("rate-limited", message + hint);
		this.retryAfter = retryAfter;
	}
}

/** The error for a request that a server over HTTP has refused: with the status and the beginning of the body. */
export function httpFailure(error: SdkHttpError): Error {
	const { status, statusText } = error;
	const { text } = error.data as { text?: string | null };
	const message = statusMessage(status, statusText, text);
	return status === 401 || status === 403
		? new ServerError("permission-denied", message, { cause: error })
		: new Error(message, { cause: error });
}

/** "HTTP 500 Internal Server Error: ", and the beginning of the body. */
export function statusMessage(status: number, statusText = "", text: string | null = ""): string {
	const body = (text ?? "").replace(/\s+/g, " ").trim().slice(0, MAX_BODY);
	return [`HTTP ${status}${statusText && ` ${statusText}`}`, ...(body === "" ? [] : [body])].join(": ");
}

/** Whether there was a connection to the server. */
export function isReached(error: unknown): boolean {
	return !NOT_REACHED.has((error as { cause?: NodeJS.ErrnoException }).cause?.code);
}

/**
 * Whether a request did not reach the server. Processes and WebSockets reject only what they do not send. Over HTTP, an
 * answer that cannot be read is an error, too.
 */
export function isUnsent(error: unknown, transport: string): boolean {
	const isOverHttp = transport !== "stdio" && transport !== "websocket";
	return !isOverHttp || error instanceof SdkHttpError || error instanceof ServerError || !isReached(error);
}
