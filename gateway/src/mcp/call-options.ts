import {
	CLIENT_CAPABILITIES_META_KEY,
	CLIENT_INFO_META_KEY,
	type ClientCapabilities,
	type InputResponses,
	LOG_LEVEL_META_KEY,
	type ServerContext,
} from "@modelcontextprotocol/server";
import type { LogLevel, LogMessage, Question, RequestContext } from "xs-mcp-manager/core";
import { RateLimit } from "xs-mcp-manager/core";

/** Progress notifications of a request in a second, and log messages: what the client does not read waits in memory. */
const MAX_NOTIFICATIONS_PER_SECOND = 20;

/** Characters of a progress notification's text, and of a log message's data as JSON. */
const MAX_PROGRESS_TEXT = 1_000;
const MAX_LOG_DATA = 10_000;

/** The log messages that a client gets in a session until it chooses a level. */
export const DEFAULT_LOG_LEVEL: LogLevel = "info";

/** Milliseconds that a person, or a client's language model, has for an answer. */
export const ANSWER_TIME = 300_000;

/** The client's description of itself: in each request since 2026-07-28, at the start of its session before. */
export interface ClientDescription {
	readonly capabilities: ClientCapabilities;
	/** The application, as it names itself. */
	readonly name: string | undefined;
	/** The least severe log messages that it wants; undefined: none. */
	readonly logLevel: LogLevel | undefined;
	/** The owner of its session; undefined if it has none. */
	readonly session?: object;
}

/** The description in a request of 2026-07-28, which the SDK has validated. */
export function descriptionIn({ envelope = {} }: { readonly envelope?: object }): ClientDescription {
	const members = envelope as {
		readonly [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities;
		readonly [CLIENT_INFO_META_KEY]?: { readonly name: string };
		readonly [LOG_LEVEL_META_KEY]?: LogLevel;
	};
	return {
		capabilities: members[CLIENT_CAPABILITIES_META_KEY] ?? {},
		name: members[CLIENT_INFO_META_KEY]?.name,
		logLevel: members[LOG_LEVEL_META_KEY],
	};
}

/**
 * The parts of a client's request that are passed on: cancellation, progress, log messages, what a server may ask.
 *
 * @param requestState the server's own, if the client sends one back
 */
export function callOptions(
	mcpReq: ServerContext["mcpReq"],
	{ capabilities, name, logLevel, session }: ClientDescription,
	requestState: string | undefined,
): RequestContext {
	const { signal } = mcpReq;
	/** Asks the client in its session, as the revisions until 2025-11-25 have it. */
	const ask = async (question: Question, asking: AbortSignal): Promise<object> =>
		await mcpReq.send(question as never, { signal: AbortSignal.any([asking, signal]), timeout: ANSWER_TIME });
	return {
		signal,
		logLevel,
		onProgress: onProgress(mcpReq),
		onLog: logLevel && onLog(mcpReq),
		clientName: name,
		inputClient: {
			client: session,
			capabilities: withForm(capabilities),
			inputResponses: mcpReq.inputResponses as InputResponses | undefined,
			requestState,
			...(session !== undefined && { ask }),
		},
	};
}

/** Passes progress on to the client, if it wants any. */
export function onProgress(mcpReq: ServerContext["mcpReq"]): RequestContext["onProgress"] {
	const progressToken = mcpReq._meta?.progressToken;
	if (progressToken === undefined) {
		return undefined;
	}
	const rate = new RateLimit(MAX_NOTIFICATIONS_PER_SECOND);
	return ({ progress, total, message }) => {
		if (rate.take()) {
			const text = typeof message === "string" && { message: message.slice(0, MAX_PROGRESS_TEXT) };
			const params = { progressToken, progress, total, ...text };
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
