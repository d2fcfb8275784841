import {
	CLIENT_CAPABILITIES_META_KEY,
	type ClientCapabilities,
	type InputResponses,
	LOG_LEVEL_META_KEY,
	type ServerContext,
} from "@modelcontextprotocol/server";
import type { CallOptions, LogLevel, LogMessage } from "xs-mcp-manager/core";
import { RateLimit } from "xs-mcp-manager/core";

/** Progress notifications of a request in a second, and log messages: what the client does not read waits in memory. */
const MAX_NOTIFICATIONS_PER_SECOND = 20;

/** Characters of a progress notification's text, and of a log message's data as JSON. */
const MAX_PROGRESS_TEXT = 1_000;
const MAX_LOG_DATA = 10_000;

/** The log messages that a client gets in a session until it chooses a level. */
export const DEFAULT_LOG_LEVEL: LogLevel = "info";

/** What a client said when its session began. */
interface SessionClient {
	/** Undefined if there is no session. */
	readonly capabilities: ClientCapabilities | undefined;
	/** The least severe log messages that it wants; undefined: none. */
	readonly logLevel: LogLevel | undefined;
}

interface Envelope {
	readonly [CLIENT_CAPABILITIES_META_KEY]: ClientCapabilities;
	readonly [LOG_LEVEL_META_KEY]?: LogLevel;
}

/**
 * The parts of a client's request that are passed on: cancellation, progress, log messages, what a server may ask.
 *
 * @param requestState the server's own, if the client sends one back
 */
export function callOptions(
	{ mcpReq }: ServerContext,
	client: SessionClient,
	requestState: string | undefined,
): CallOptions {
	const { signal } = mcpReq;
	// A request of 2026-07-28 describes its client itself; the SDK has validated that.
	const envelope = mcpReq.envelope as Envelope | undefined;
	const logLevel = envelope === undefined ? client.logLevel : envelope[LOG_LEVEL_META_KEY];
	const capabilities = envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? client.capabilities ?? {};
	const inputResponses = mcpReq.inputResponses as InputResponses | undefined;
	return {
		signal,
		logLevel,
		onProgress: onProgress(mcpReq),
		onLog: logLevel && onLog(mcpReq),
		asker: { capabilities: withForm(capabilities), inputResponses, requestState },
	};
}

function onProgress(mcpReq: ServerContext["mcpReq"]): CallOptions["onProgress"] {
	const progressToken = mcpReq._meta?.progressToken;
	if (progressToken === undefined) {
		return undefined;
	}
	const rate = new RateLimit(MAX_NOTIFICATIONS_PER_SECOND);
	return ({ progress, total, message }) => {
		if (rate.take()) {
			const text = typeof message === "string" && { message: message.slice(0, MAX_PROGRESS_TEXT) };
			const params = { progressToken, progress, ...(total !== undefined && { total }), ...text };
			// A client that has disconnected needs no progress.
			mcpReq.notify({ method: "notifications/progress", params } as never).catch(() => {});
		}
	};
}

function onLog(mcpReq: ServerContext["mcpReq"]): (message: LogMessage) => void {
	const rate = new RateLimit(MAX_NOTIFICATIONS_PER_SECOND);
	return (message) => {
		const { length } = JSON.stringify(message.data) ?? "";
		if (rate.take()) {
			const data = length > MAX_LOG_DATA ? `${length} characters, at most ${MAX_LOG_DATA} are sent` : message.data;
			const params = { ...message, data: data ?? null };
			// A client that has disconnected needs no log.
			mcpReq.notify({ method: "notifications/message", params }).catch(() => {});
		}
	};
}

/** In older revisions `elicitation: {}` means forms. */
function withForm({ elicitation, ...rest }: ClientCapabilities): ClientCapabilities {
	const isBare = elicitation !== undefined && elicitation.form === undefined && elicitation.url === undefined;
	return { ...rest, ...(elicitation && { elicitation: isBare ? { form: {} } : elicitation }) };
}
