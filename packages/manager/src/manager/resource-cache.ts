import {
	type ClientCapabilities,
	type ElicitRequestFormParams,
	type InputResponses,
	isInputRequiredResult,
	ProtocolError,
	ProtocolErrorCode,
	type ReadResourceResult,
} from "@modelcontextprotocol/client";
import { LRUCache } from "lru-cache";
import type { OrInput, Question } from "../core/asking.js";
import type { RequestContext } from "../core/connection.js";
import { McpError } from "../core/errors.js";
import type { Server } from "../core/server.js";
import type { Elicit, ElicitRequest } from "./mcp-types.js";

/** Maximum number of cached resources, and of characters in all of them. */
const MAX_CACHED = 1_000;
const MAX_CHARACTERS = 64 * 1024 * 1024;

interface Kept {
	readonly result: ReadResourceResult;
	/** Ends the subscription. Never rejects. */
	readonly stopFollowing: Promise<() => void>;
}

/**
 * Makes a cache that reads resources, and keeps their contents until they expire or their server reports a change.
 *
 * @param ttl milliseconds; 0 disables the cache
 */
export function makeResourceCache(ttl: number) {
	/** Contents by server and URI. */
	const cache = new LRUCache<string, Kept>({
		max: MAX_CACHED,
		maxSize: MAX_CHARACTERS,
		// It takes whole milliseconds, and 0 for contents that never expire.
		ttl: Number.isFinite(ttl) ? Math.ceil(Math.max(0, ttl)) : 0,
		dispose: ({ stopFollowing }) => void stopFollowing.then((stop) => stop()),
	});

	/** Caches contents, and subscribes to their updates. If the server does not support that, they only expire. */
	const keep = (key: string, server: Server, uri: string, result: ReadResourceResult): void => {
		const size = result.contents.reduce((sum, item) => sum + ("text" in item ? item.text : item.blob).length, 1);
		cache.delete(key);
		if (ttl <= 0 || size > MAX_CHARACTERS) {
			return;
		}
		const ignore = (): void => {};
		const following = server.connection?.canSubscribe ? server.subscriptions.add(uri) : Promise.resolve(ignore);
		cache.set(key, { result, stopFollowing: following.catch(() => ignore) }, { size });
	};

	return {
		/** Returns a resource from the cache. Reads it from the server if it is not cached, or if `isFresh` is set. */
		async read(server: Server, uri: string, isFresh = false): Promise<ReadResourceResult> {
			const key = `${server.id}\0${uri}`;
			const kept = isFresh ? undefined : cache.get(key);
			if (kept !== undefined) {
				return kept.result;
			}
			const answer = await server.request({ method: "resources/read", params: { uri } }).catch((error: unknown) => {
				// Many servers answer −32602 for an unknown resource. If they list it, something else is wrong.
				const isInvalid = ProtocolError.isInstance(error) && error.code === ProtocolErrorCode.InvalidParams;
				throw isInvalid && !server.offers.resources.some((resource) => resource.uri === uri)
					? new McpError("RESOURCE_NOT_FOUND", `Resource '${uri}' not found: ${error.message}`)
					: error;
			});
			const result = expectComplete(answer);
			keep(key, server, uri, result);
			return result;
		},
		clear: () => cache.clear(),
		/** Drops contents that a server has reported as changed. */
		notified({ id }: Server, method: string, params: Readonly<Record<string, unknown>>): void {
			if (method === "notifications/resources/updated") {
				cache.delete(`${id}\0${params.uri}`);
			} else if (method === "notifications/resources/list_changed") {
				[...cache.keys()].filter((key) => key.startsWith(`${id}\0`)).forEach((key) => void cache.delete(key));
			}
		},
	};
}

/** The capabilities of a manager whose program answers questions. */
export const ELICITATION = { elicitation: { form: {} } } satisfies ClientCapabilities;

/** How often a server may ask during one call. */
const MAX_ROUNDS = 10;

type Call = Pick<ElicitRequest, "server" | "tool" | "signal">;

/**
 * Makes a call during which the server may ask the person: in its session, or with a result (2026-07-28), after which
 * the call is repeated with the answers.
 *
 * @param elicit default: a server that asks gets an error
 * @param call makes the call with the handler of questions, and with the answers so far
 */
export async function withQuestions<Result extends object>(
	elicit: Elicit | undefined,
	{ server, tool, signal }: Call,
	call: (asking: RequestContext) => Promise<OrInput<Result>>,
): Promise<Result> {
	const ask = async ({ method, params }: Question, ended: AbortSignal | undefined): Promise<object> => {
		if (elicit === undefined || method !== "elicitation/create" || params?.mode === "url") {
			throw new ProtocolError(ProtocolErrorCode.MethodNotFound, `${method}: not supported here`);
		}
		const { message, requestedSchema } = params as unknown as ElicitRequestFormParams;
		return { ...(await elicit({ server, tool, message, requestedSchema, signal: ended })) };
	};
	// All calls of the program belong to one person, so that a question that names no call can be answered.
	const asking: RequestContext = elicit === undefined ? {} : { capabilities: ELICITATION, session: elicit, ask };
	let answers: RequestContext = {};
	for (let round = 0; round <= MAX_ROUNDS; round += 1) {
		const result = await call({ ...asking, ...answers });
		if (elicit === undefined || !isInputRequiredResult(result)) {
			return expectComplete(result);
		}
		const inputResponses: Record<string, object> = {};
		for (const [key, question] of Object.entries(result.inputRequests ?? {})) {
			inputResponses[key] = await ask(question as Question, signal);
		}
		const { requestState } = result;
		answers = { inputResponses: inputResponses as InputResponses, ...(requestState !== undefined && { requestState }) };
	}
	throw new McpError("EXECUTION_FAILED", `the server asks more than ${MAX_ROUNDS} times during a call`);
}

/** Returns a complete result. Throws on a request for input, which cannot be answered here. */
export function expectComplete<T extends object>(result: OrInput<T>): T {
	if (isInputRequiredResult(result)) {
		throw new McpError("EXECUTION_FAILED", "the server requires input, which is not supported here", {
			details: result,
		});
	}
	return result as T;
}
