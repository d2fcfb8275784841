import { ProtocolError, SdkError, SdkErrorCode } from "@modelcontextprotocol/client";
import { messageOf, ServerError } from "./errors.js";

/** The `data` of an error response by which a transport replaces a response that is not valid JSON-RPC. */
export const INVALID_RESPONSE = "xs-mcp/invalid-response";

/** The `data` of an error response for a request that a transport could not send. */
export const NOTHING_SENT = "xs-mcp/nothing-sent";

/** The connection was over before a request was sent: the server may be reached over another one. */
export class NotSentError extends ServerError {
	constructor(message: string) {
		super("server-offline", message);
	}
}

interface SentRequest {
	readonly method: string;
	/** Milliseconds. */
	readonly timeout: number;
	readonly signal: AbortSignal | undefined;
	/** Why the session has ended; undefined while it is open. */
	readonly over: string | undefined;
}

/** Converts an error that the SDK throws for a request. An error response of the server stays; anything else becomes a ServerError. */
export function requestError(error: Error, request: SentRequest): Error {
	if (!ProtocolError.isInstance(error)) {
		return error instanceof ServerError ? error : unanswered(error, request);
	}
	switch (error.data) {
		case INVALID_RESPONSE:
			return new ServerError("invalid-result", error.message);
		case NOTHING_SENT:
			return new NotSentError(error.message);
		default:
			return error.data instanceof ServerError ? error.data : error;
	}
}

function unanswered(cause: Error, { method, timeout, signal, over }: SentRequest): ServerError {
	if (signal?.aborted) {
		return new ServerError("cancelled", `${method} was cancelled`, { cause });
	}
	if (cause instanceof SdkError && cause.code === SdkErrorCode.RequestTimeout) {
		return new ServerError("timeout", `no answer to ${method} within ${timeout} ms`, { cause });
	}
	return over === undefined
		? new ServerError("invalid-result", `${method}: ${messageOf(cause)}`, { cause })
		: new ServerError("server-disconnected", over, { cause });
}
