import type { LoggingLevel } from "@modelcontextprotocol/client";
import type { RequestId } from "@modelcontextprotocol/server";
import type { CallOptions } from "./session.js";

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

/** A member of `_meta` by which a device says to which request a notification belongs. */
const REQUEST_ID = "xs-mcp/requestId";

interface Listener extends Pick<CallOptions, "onLog" | "logLevel"> {
	readonly id: RequestId | undefined;
}

/** The log messages of one session with a server: each goes to the request that it belongs to, and nowhere else. */
export class SessionLog {
	readonly #setLevel: (level: LogLevel) => void;
	readonly #listeners = new Set<Listener>();
	/** The least severe level that the server was asked for. */
	#level: LogLevel | undefined;

	/** @param setLevel asks the server for messages of that level and above */
	constructor(setLevel: (level: LogLevel) => void) {
		this.#setLevel = setLevel;
	}

	/** Asks the server for messages of that level, if it was not asked yet. Others of the session may want less: they filter. */
	want(level: LogLevel | undefined): void {
		if (level !== undefined && (this.#level === undefined || isBelow(level, this.#level))) {
			this.#level = level;
			this.#setLevel(level);
		}
	}

	/**
	 * A request has been sent.
	 *
	 * @returns a function that ends it
	 */
	begin(id: RequestId | undefined, { onLog, logLevel }: CallOptions): () => void {
		const listener = { id, onLog, logLevel };
		this.#listeners.add(listener);
		return () => this.#listeners.delete(listener);
	}

	/** A log message has come. If it does not say to which request it belongs, and several are under way, it is dropped. */
	received({ _meta, level, data, logger }: Readonly<Record<string, unknown>>): void {
		const { [REQUEST_ID]: id } = (_meta ?? {}) as Record<string, unknown>;
		const all = [...this.#listeners];
		const listener = id === undefined ? onlyOne(all) : all.find((each) => each.id === id);
		const known = LEVELS.find((each) => each === level);
		if (known === undefined || listener === undefined || isBelow(known, listener.logLevel ?? "debug")) {
			return;
		}
		listener.onLog?.({ level: known, data, ...(typeof logger === "string" && { logger }) });
	}
}

function isBelow(level: LogLevel, other: LogLevel): boolean {
	return LEVELS.indexOf(level) < LEVELS.indexOf(other);
}

function onlyOne<Item>(items: readonly Item[]): Item | undefined {
	return items.length === 1 ? items[0] : undefined;
}
