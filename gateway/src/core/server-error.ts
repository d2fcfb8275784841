/** Why a server could not answer. Stable: callers may match on it, and clients see it as `xs-mcp/error`. */
export type ServerErrorCode =
	/** No answer within the time allowed. */
	| "timeout"
	/** The server disconnected while the call was under way: it may have been carried out. Or the session has ended. */
	| "device-gone"
	/** The server was offline, and did not come back in the time that a call waits for it, or could not be reached. Nothing was sent. */
	| "device-away"
	/** The arguments break the tool's schema. Nothing was sent. */
	| "invalid-arguments"
	/** More calls wait for the server than its queue holds. Nothing was sent. */
	| "queue-full"
	/** The caller cancelled, or the gateway is shutting down. */
	| "cancelled"
	/** The server sent a result that is not valid MCP. */
	| "bad-answer"
	/** The call was made again as often as the server's retry policy allows, and failed each time. */
	| "retries-exceeded";

/** A server did not answer, or was not asked. */
export class ServerError extends Error {
	readonly code: ServerErrorCode;

	constructor(code: ServerErrorCode, message: string, options?: { cause?: unknown }) {
		super(message, options);
		this.name = "ServerError";
		this.code = code;
	}
}
