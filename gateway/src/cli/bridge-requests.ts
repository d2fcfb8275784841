import type { RequestOptions } from "@modelcontextprotocol/client";
import {
	CLIENT_CAPABILITIES_META_KEY,
	type InputRequiredResult,
	type InputResponses,
	isInputRequiredResult,
	LOG_LEVEL_META_KEY,
	type LoggingLevel,
	type Server,
	type ServerContext,
} from "@modelcontextprotocol/server";
import { PATIENCE } from "./gateway-transport.js";

/** The first revision of the stateless era. */
const STATELESS = "2026-07-28";

/** What that revision puts into results, and the names in `_meta` that MCP keeps for itself. */
const STATELESS_MEMBERS: ReadonlySet<string> = new Set(["resultType", "ttlMs", "cacheScope"]);
const RESERVED_META = "io.modelcontextprotocol/";

/** The levels of log messages that clients have chosen in their sessions. Until then: {@link DEFAULT_LOG_LEVEL}. */
const logLevels = new WeakMap<Server, LoggingLevel>();
const DEFAULT_LOG_LEVEL: LoggingLevel = "info";

/** A client has chosen the level of its log messages, in its session. */
export function setLogLevel(server: Server, level: LoggingLevel): void {
	logLevels.set(server, level);
}

/** What a request to the gateway says of the client for which it is made. */
export interface Asking {
	readonly _meta: Record<string, unknown>;
	/** What the client has answered, and what the gateway wants back with it. */
	readonly inputResponses?: InputResponses;
	readonly requestState?: string;
}

/** Passes a request on during which a server may log, and ask the client. The SDK asks clients of older revisions. */
export async function passOn<Result extends object>(
	server: Server,
	context: ServerContext,
	ask: (asking: Asking, options: RequestOptions) => Promise<Result>,
): Promise<Result | InputRequiredResult> {
	const { inputResponses, ...mcpReq } = context.mcpReq;
	const envelope = mcpReq.envelope as Record<string, unknown> | undefined;
	const requestState = mcpReq.requestState<string>();
	const logLevel = envelope === undefined ? (logLevels.get(server) ?? DEFAULT_LOG_LEVEL) : envelope[LOG_LEVEL_META_KEY];
	const asking = {
		...(inputResponses && { inputResponses }),
		...(requestState !== undefined && { requestState }),
		_meta: {
			[CLIENT_CAPABILITIES_META_KEY]: envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities() ?? {},
			...(logLevel !== undefined && { [LOG_LEVEL_META_KEY]: logLevel }),
		},
	};
	const result = await ask(asking as Asking, { ...requestOptions(context), allowInputRequired: true });
	return isInputRequiredResult(result) ? result : inRevision(server, result);
}

/** A result, or a notification's parameters, of the gateway, without what the client's revision does not have. */
export function inRevision<Result extends object>(server: Server, result: Result): Result {
	if (revisionOf(server) >= STATELESS) {
		return result;
	}
	const { _meta, ...rest } = result as { _meta?: Record<string, unknown> };
	const members = Object.entries(rest).filter(([name]) => !STATELESS_MEMBERS.has(name));
	const meta = Object.entries(_meta ?? {}).filter(([name]) => !name.startsWith(RESERVED_META));
	return { ...Object.fromEntries(members), ...(meta.length > 0 && { _meta: Object.fromEntries(meta) }) } as Result;
}

export function revisionOf(server: Server): string {
	return server.getNegotiatedProtocolVersion() ?? "";
}

/** Cancellation and progress, passed through. */
export function requestOptions({ mcpReq }: ServerContext): RequestOptions {
	const { signal, _meta } = mcpReq;
	const progressToken = _meta?.progressToken;
	const options = { ...PATIENCE, signal };
	return progressToken === undefined
		? options
		: {
				...options,
				onprogress: (progress) => {
					// A client that has disconnected needs no progress.
					mcpReq.notify({ method: "notifications/progress", params: { ...progress, progressToken } }).catch(() => {});
				},
			};
}
