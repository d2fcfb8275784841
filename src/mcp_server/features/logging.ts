import { invalidParams, notificationMessage, type Params } from "../json-rpc.js";
import type { McpSession } from "../mcp-session.js";
import type { ToolCall } from "../tool-call.js";
import { type Feature, type FeatureResult, findFeature } from "./feature-server.js";
import type { FeatureSession } from "./feature-session.js";

/** A level of syslog (RFC 5424 §6.2.1). */
export type LogLevel = "debug" | "info" | "notice" | "warning" | "error" | "critical" | "alert" | "emergency";

/** The least severe first. */
const LEVELS = Object.freeze("debug info notice warning error critical alert emergency".split(" ") as LogLevel[]);

interface SessionLog {
	/** The lowest level that is sent, unless the client names one in each request. */
	level: LogLevel;
	/** Start of the current second, in milliseconds. */
	since: number;
	sent: number;
	/** Messages dropped since one was sent. */
	dropped: number;
}

/** Maximum number of messages per second in a session. */
const MAX_RATE = 10;

/** Maximum characters of a message's data as JSON. */
const MAX_DATA_LENGTH = 1_024;

/** Logging: messages for the client beyond a tool's result (MCP 2025-11-25, server/utilities/logging). */
export class Logging implements Feature<unknown> {
	readonly capabilities = { logging: {} };
	readonly names = ["level"];
	private readonly now: () => number;
	private readonly logs = new WeakMap<McpSession<unknown>, SessionLog>();

	/** @param now the time in milliseconds */
	constructor(now: () => number = Date.now) {
		this.now = now;
	}

	answer(method: string, { level }: Params, { session }: ToolCall): FeatureResult | undefined {
		if (method !== "logging/setLevel") {
			return undefined;
		}
		const known = LEVELS.find((each) => each === level);
		if (known === undefined) {
			throw invalidParams(`level: expected one of ${LEVELS.join(", ")}`);
		}
		this.logOf(session).level = known;
		return "{}";
	}

	/** Sends a message to a session, if its client wants this level and the rate limit is not reached. */
	send(session: FeatureSession<unknown>, level: LogLevel, data: unknown, logger?: string): void {
		const log = this.logOf(session.connection);
		const least = (LEVELS as readonly string[]).indexOf(session.client.logLevel ?? log.level);
		// An invalid level from a client means "none".
		if (least < 0 || LEVELS.indexOf(level) < least) {
			return;
		}
		const now = this.now();
		// Setting the clock may turn it back.
		if (now < log.since || now - log.since >= 1_000) {
			log.since = now;
			log.sent = 0;
		}
		if (log.sent >= MAX_RATE) {
			log.dropped += 1;
			return;
		}
		log.sent += 1;
		if (log.dropped > 0) {
			sendMessage(session, { level: "warning", data: `${log.dropped} log messages dropped` });
			log.dropped = 0;
		}
		sendMessage(session, { level, logger, data });
	}

	private logOf(session: McpSession<unknown>): SessionLog {
		let log = this.logs.get(session);
		if (log === undefined) {
			log = { level: "info", since: Number.NEGATIVE_INFINITY, sent: 0, dropped: 0 };
			this.logs.set(session, log);
		}
		return log;
	}
}

const sendMessage = (
	session: McpSession<unknown>,
	message: { readonly data: unknown; readonly [name: string]: unknown },
) => {
	const { length } = JSON.stringify(message.data) ?? "";
	const data = length > MAX_DATA_LENGTH ? `${length} characters (limit ${MAX_DATA_LENGTH})` : message.data;
	session.notify(notificationMessage("notifications/message", { ...message, data: data ?? null }));
};

/**
 * Logs to the calling client. Does nothing if the server has no {@link Logging}.
 *
 * @param data any JSON value
 * @param logger the logger's name
 * @example
 * log(call, "info", "the door is open");
 */
export const log = (call: ToolCall, level: LogLevel, data: unknown, logger?: string): void => {
	if (!call.cancelled) {
		// A server with features has such sessions.
		findFeature(call, Logging)?.send(call.session as FeatureSession<unknown>, level, data, logger);
	}
};
