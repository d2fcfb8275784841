/** Why a session could not start, or ended. Stable: logs, tests and callers may match on it. */
export type ProtocolErrorCode =
	/** Network error: host not found, connection refused or reset, TLS failed. */
	| "connection-failed"
	/** The peer closed the connection. */
	| "connection-closed"
	/** No connection, or no hello, within the timeout. */
	| "hello-timeout"
	/** The backend's hello cannot be used with this transport. */
	| "hello-refused"
	/** No sign of life for too long. */
	| "silent"
	/** The backend said goodbye. */
	| "goodbye"
	/** The backend does not read fast enough: the send queue is full. */
	| "send-queue-full";

/** A failure of the transport, not an error of JSON-RPC. */
export class ProtocolError extends Error {
	/** Declared as a field: an assignment would hit the read-only property of `Error` in flash. */
	override readonly name = "ProtocolError";
	readonly code: ProtocolErrorCode;

	constructor(code: ProtocolErrorCode, message: string, options?: { cause?: unknown }) {
		super(message, options);
		this.code = code;
	}
}
