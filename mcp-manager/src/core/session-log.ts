import { type LoggingLevel, ProtocolError, type RequestId } from "@modelcontextprotocol/client";

/** A level of syslog (RFC 5424 §6.2.1). */
export type LogLevel = LoggingLevel;

/** A log message, as a server sent it. */
export interface LogMessage {
	readonly level: LogLevel;
	readonly data: unknown;
	readonly logger?: string;
}

/** The log options of a request. */
export interface LogOptions {
	/** Is called with each log message of the request that is at least as severe as {@link logLevel}. */
	readonly onLog?: ((message: LogMessage) => void) | undefined;
	/** The least severe log messages that are wanted. Default: the server decides. */
	readonly logLevel?: LogLevel | undefined;
}

/** The least severe first. */
const LEVELS: readonly LogLevel[] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/** A member of `_meta` by which a device says to which request a notification belongs. */
const REQUEST_ID = "xs-mcp/requestId";

/** Milliseconds for which a server may still log for a request that was cancelled or timed out. */
const UNANSWERED_TIME = 60_000;

interface Listener extends LogOptions {
	readonly id: RequestId | undefined;
}

/** The log messages of one session with a server: each goes to the request that it belongs to, and nowhere else. */
export class SessionLog {
	readonly #setLevel: (level: LogLevel) => void;
	readonly #listeners = new Set<Listener>();
	/** The least severe level that the server was asked for. */
	#level: LogLevel | undefined;
	/** The time, by `performance.now()`, until which a message may belong to an unanswered request. */
	#uncertainUntil = 0;

	/** @param setLevel asks the server for messages of that level and above */
	constructor(setLevel: (level: LogLevel) => void) {
		this.#setLevel = setLevel;
	}

	/**
	 * Requests messages of that level from the server, unless already done. Other requests of the session filter for
	 * themselves.
	 */
	want(level: LogLevel | undefined): void {
		if (level !== undefined && (this.#level === undefined || isBelow(level, this.#level))) {
			this.#level = level;
			this.#setLevel(level);
		}
	}

	/** A request has been sent. It ends with its answer. */
	begin(id: RequestId | undefined, { onLog, logLevel }: LogOptions, answer: Promise<unknown>): void {
		const listener = { id, onLog, logLevel };
		this.#listeners.add(listener);
		const end = (): boolean => this.#listeners.delete(listener);
		answer.then(end, (error: unknown) => {
			end();
			if (!ProtocolError.isInstance(error)) {
				this.#uncertainUntil = performance.now() + UNANSWERED_TIME;
			}
		});
	}

	/** The request of a message that names none, if it is certain. */
	get #only(): Listener | undefined {
		const [only, another] = this.#listeners;
		return another === undefined && performance.now() >= this.#uncertainUntil ? only : undefined;
	}

	/** Receives a log message. It is dropped if its request is not known for certain. */
	received({ _meta, level, data, logger }: Readonly<Record<string, unknown>>): void {
		const { [REQUEST_ID]: id } = (_meta ?? {}) as Record<string, unknown>;
		const listener = id === undefined ? this.#only : [...this.#listeners].find((each) => each.id === id);
		const known = LEVELS.find((each) => each === level);
		if (known === undefined || listener === undefined || isBelow(known, listener.logLevel ?? "debug")) {
			return;
		}
		listener.onLog?.({ level: known, data, ...(typeof logger === "string" && { logger }) });
	}
}

/** Whether a level is less severe than another. */
export function isBelow(level: LogLevel, other: LogLevel): boolean {
	return LEVELS.indexOf(level) < LEVELS.indexOf(other);
}
