/** Why a session could not be had, or ended. Stable: logs, tests and callers may match on it. */
export type ProtocolErrorCode =
	/** The network refused: no such host, connection refused, TLS failed, reset. */
	| "connection-failed"
	/** The other side closed the connection. */
	| "connection-closed"
	/** No connection, or no hello, within the time allowed. */
	| "hello-timeout"
	/** The backend's hello is not one this transport can go on with. */
	| "hello-refused"
	/** Nothing was heard for too long. */
	| "silent"
	/** The backend said goodbye. */
	| "goodbye"
	/** The backend does not read what it is sent: more waits than may. */
	| "send-queue-full";

/** A failure of the transport, apart from errors that cross the wire. */
export class ProtocolError extends Error {
	/** Declared as a field: an assignment would hit the read-only property of `Error` in flash. */
	override readonly name = "ProtocolError";
	readonly code: ProtocolErrorCode;

	constructor(code: ProtocolErrorCode, message: string, options?: { cause?: unknown }) {
		super(message, options);
		this.code = code;
	}
}
