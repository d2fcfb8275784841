import type { LoggingLevel } from "@modelcontextprotocol/client";

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
