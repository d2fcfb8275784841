/** Values that an error code maps to: HTTP, JSON-RPC, OAuth, exit code. */
interface Effect {
	/** Status of an HTTP answer. Default 400. */
	readonly status?: number;
	/** Code of a JSON-RPC error. Default -32000, a server-defined error (JSON-RPC 2.0 §5.1). */
	readonly rpc?: number;
	/** Reason in logs and metrics. Keep the number of them small. Default: such an error is neither logged nor counted. */
	readonly reason?: string;
	/** Code of RFC 6749 §5.2 and its extensions. Default invalid_request. */
	readonly oauth?: string;
	/** Exit code of a command. Default 1. */
	readonly exit?: number;
}

const EFFECTS = {
	host: { status: 403, reason: "host" },
	origin: { status: 403, reason: "origin" },
	unauthorized: { status: 401, reason: "token" },
	forbidden: { status: 403, reason: "token" },
	rate: { status: 429, reason: "rate", oauth: "too_many_requests" },
	"too-large": { status: 413, reason: "too-large" },
	"media-type": { status: 415, reason: "malformed" },
	malformed: { reason: "malformed" },
	"not-json": { rpc: -32_700, reason: "not-json" },
	"not-found": { status: 404, reason: "not-found" },
	"upgrade-required": { status: 426, reason: "not-found" },
	method: { status: 405, reason: "method" },
	conflict: { status: 409, reason: "busy" },
	unexpected: { status: 409, reason: "unexpected" },
	busy: { status: 503, reason: "busy", oauth: "temporarily_unavailable" },
	/** A file, folder or entry cannot be written. */
	unsaved: { status: 503, reason: "busy", oauth: "temporarily_unavailable" },
	/** Internal error: the log has its details. */
	failed: { status: 500, rpc: -32_603, oauth: "server_error" },

	invalid_client: { reason: "malformed", oauth: "invalid_client" },
	invalid_client_metadata: { reason: "malformed", oauth: "invalid_client_metadata" },
	/** A code or refresh token gives no tokens. */
	invalid_grant: { reason: "grant", oauth: "invalid_grant" },
	invalid_redirect_uri: { reason: "malformed", oauth: "invalid_redirect_uri" },
	invalid_target: { reason: "malformed", oauth: "invalid_target" },
	unsupported_grant_type: { reason: "malformed", oauth: "unsupported_grant_type" },
	unsupported_response_type: { reason: "malformed", oauth: "unsupported_response_type" },

	"bad-request": {},
	"no-stream": { status: 405 },
	"not-acceptable": { status: 406 },
	unavailable: { status: 503 },
	parse: { rpc: -32_700 },
	"invalid-request": { rpc: -32_600 },
	"invalid-params": { rpc: -32_602 },
	"session-not-found": { status: 404, rpc: -32_001 },
	/** The headers of a message of 2026-07-28 differ from its body: HeaderMismatch. */
	"header-mismatch": { rpc: -32_020, reason: "malformed" },
	/** Invalid message of 2026-07-28. The error overrides the JSON-RPC code. */
	protocol: { reason: "malformed" },

	/** Wrong command line. */
	usage: { status: 500, exit: 2 },
	/** Settings that cannot be used. */
	configuration: { status: 500, exit: 2 },
	/** No gateway answers the command line. One may start later. */
	unreachable: { status: 500 },
	/** A gateway rejected a request of the command line, with the error's status and code. */
	rejected: { status: 500 },
} as const satisfies Readonly<Record<string, Effect>>;

export type GatewayErrorCode = keyof typeof EFFECTS;

interface ErrorDetails {
	/** Overrides the status of the code. */
	readonly status?: number;
	readonly rpc?: number | undefined;
	/** Headers of an HTTP answer. */
	readonly headers?: Readonly<Record<string, string>>;
	/** The `data` of a JSON-RPC error, and the id of its request if that has one. */
	readonly data?: unknown;
	readonly id?: unknown;
	/** Logged, never sent. */
	readonly log?: object;
	readonly cause?: unknown;
}

/** An error of the gateway, or of its command line. Errors of servers are ServerError, those of stores StoreError. */
export class GatewayError extends Error {
	override readonly name: string = "GatewayError";
	readonly code: GatewayErrorCode;
	readonly status: number;
	readonly rpc: number;
	readonly headers: Readonly<Record<string, string>>;
	readonly data: unknown;
	readonly log: object | undefined;
	readonly #id: unknown;

	/** @param message goes to the client, or to the operator */
	constructor(code: GatewayErrorCode, message: string, details: ErrorDetails = {}) {
		super(message, "cause" in details ? { cause: details.cause } : {});
		const { status = 400, rpc = -32_000 }: Effect = EFFECTS[code];
		this.code = code;
		this.status = details.status ?? status;
		this.rpc = details.rpc ?? rpc;
		this.headers = details.headers ?? {};
		this.data = details.data;
		this.log = details.log;
		this.#id = details.id;
	}

	/** Values of its code. {@link status} and {@link rpc} may differ from it. */
	get effect(): Effect {
		return EFFECTS[this.code];
	}

	/** The JSON-RPC response. Its id is null if the error is not of one request. */
	get response(): object {
		const { rpc: code, message, data } = this;
		const id = typeof this.#id === "string" || typeof this.#id === "number" ? this.#id : null;
		return { jsonrpc: "2.0", error: { code, message, data }, id };
	}
}

/** Whether a client may read the message of an error. Other errors are internal. */
export const isForClient = (error: unknown): error is GatewayError =>
	error instanceof GatewayError && error.effect.status !== 500;

/** Exit codes, as POSIX shells have them. */
export const EXIT = { ok: 0, failed: 1, usage: 2 } as const;
