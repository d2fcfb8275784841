import type { IncomingMessage } from "node:http";
import { text as readText } from "node:stream/consumers";
import { isObject } from "../firmware.js";
import { GATEWAY_INFO } from "../version.js";
import { eventsIn, Rejection } from "./http-request.js";

/** A JSON-RPC message. The client and the gateway check what is in it. */
export interface Message {
	readonly jsonrpc: "2.0";
	readonly id?: string | number;
	readonly method?: string;
	readonly params?: { readonly _meta?: Record<string, unknown> } & Record<string, unknown>;
	readonly result?: Record<string, unknown>;
	readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

export type Request = Message & Required<Pick<Message, "id" | "method">>;

/** The answer to a request. */
export type Answer = Pick<Message, "result" | "error">;

const META = "io.modelcontextprotocol/";

/** The id of the `subscriptions/listen` that a notification belongs to. */
export const SUBSCRIPTION_ID = `${META}subscriptionId`;

export const ACKNOWLEDGED = "notifications/subscriptions/acknowledged";

/** JSON-RPC 2.0 §5.1. The first two are server-defined. */
const CODE = { server: -32_000, sessionNotFound: -32_001, invalidParams: -32_602 };

/** The parameter that the header `Mcp-Name` repeats, by method. */
const NAMED_BY: Readonly<Record<string, string>> = {
	"tools/call": "name",
	"prompts/get": "name",
	"resources/read": "uri",
};

/** Members of results since 2026-07-28. */
const STATELESS = { resultType: "complete", ttlMs: 0, cacheScope: "private" };

const CAPABILITIES = {
	tools: { listChanged: true },
	resources: { listChanged: true, subscribe: true },
	prompts: { listChanged: true },
	completions: {},
	logging: {},
};

/** Results until a gateway has been reached, of methods for which there is nothing yet. */
const EMPTY: Readonly<Record<string, Record<string, unknown>>> = {
	"tools/list": { tools: [] },
	"resources/list": { resources: [] },
	"resources/templates/list": { resourceTemplates: [] },
	"resources/unsubscribe": {},
	"prompts/list": { prompts: [] },
	"completion/complete": { completion: { values: [] } },
	"logging/setLevel": {},
	"server/discover": { capabilities: CAPABILITIES, _meta: { [`${META}serverInfo`]: GATEWAY_INFO } },
};

/** @throws Error if a text is no JSON-RPC message */
export function readMessage(text: string): Message {
	const message: unknown = JSON.parse(text);
	if (!isObject(message)) {
		throw new Error("message dropped: not JSON-RPC");
	}
	// Some clients write null for what they leave out. The gateway reads the other members.
	const { params, error, ...rest } = message;
	return { ...rest, ...(params !== null && { params }), ...(error !== null && { error }) } as unknown as Message;
}

/** The revision that each message since 2026-07-28 names; undefined in a session. */
export function statelessRevision({ params }: Message): string | undefined {
	const revision = params?._meta?.[`${META}protocolVersion`];
	return typeof revision === "string" ? revision : undefined;
}

/** The headers that repeat parts of a stateless message: 2026-07-28, "Standard Request Headers". */
export function standardHeaders(message: Message): Record<string, string> {
	const revision = statelessRevision(message);
	const { method = "", params } = message;
	const name = params?.[NAMED_BY[method] ?? ""];
	return {
		...(revision !== undefined && { "MCP-Protocol-Version": revision, "Mcp-Method": method }),
		...(revision !== undefined && typeof name === "string" && { "Mcp-Name": headerValue(name) }),
	};
}

/** The headers that a tool's schema asks for: 2026-07-28, "Custom Headers from Tool Parameters". */
export function parameterHeaders(schema: unknown, value: unknown): Record<string, string> {
	const { properties = {}, "x-mcp-header": name } = (schema ?? {}) as Record<string, unknown>;
	const headers = Object.entries(properties as object).map(([key, each]) =>
		parameterHeaders(each, (value as Record<string, unknown> | undefined)?.[key]),
	);
	const isGiven = typeof name === "string" && ["string", "number", "boolean"].includes(typeof value);
	return Object.assign(isGiven ? { [`Mcp-Param-${name}`]: headerValue(`${value}`) } : {}, ...headers);
}

/** 2026-07-28, "Value Encoding". */
function headerValue(text: string): string {
	const isPlain = /^[!-~]([\t -~]*[!-~])?$/.test(text) && !/^=\?base64\?.*\?=$/.test(text);
	return isPlain ? text : `=?base64?${Buffer.from(text).toString("base64")}?=`;
}

/** The messages of a response: one as JSON, or a stream of events. */
export async function* messagesIn(response: IncomingMessage): AsyncGenerator<Message> {
	const isStream = response.headers["content-type"]?.startsWith("text/event-stream");
	for await (const text of isStream ? eventsIn(response) : [await readText(response)]) {
		// An event without data has only an id.
		if (text !== "") {
			yield JSON.parse(text);
		}
	}
}

/** The answer to a request that has failed. A call of a tool fails as a result, which a model can read. */
export function failureOf(request: Request, error: Error): Answer {
	const { code = CODE.server, data } = error instanceof Rejection ? error.rpc : {};
	const lost = `lost the connection to the gateway: ${error.message || (error as NodeJS.ErrnoException).code}`;
	const message = error instanceof Rejection ? error.message : lost;
	const isUnanswered = code === CODE.server || code === CODE.sessionNotFound;
	return request.method === "tools/call" && isUnanswered
		? failedCall(request, `The gateway did not answer: ${message}. The call may have been carried out, or not.`)
		: { error: { code, message, data } };
}

/** The answer to a request until a gateway has been reached. */
export function answerWithoutGateway(request: Request): Answer {
	const { method, params = {} } = request;
	const revision = statelessRevision(request);
	if (method === "initialize") {
		const { protocolVersion } = params;
		return { result: { protocolVersion, capabilities: CAPABILITIES, serverInfo: GATEWAY_INFO } };
	}
	if (method === "tools/call") {
		return failedCall(request, "No gateway is running yet. The call was not carried out.");
	}
	const result = EMPTY[method];
	if (result === undefined) {
		return { error: { code: CODE.invalidParams, message: `Not found: ${params.name ?? params.uri ?? method}` } };
	}
	const versions = method === "server/discover" && { supportedVersions: [revision] };
	return { result: { ...result, ...versions, ...(revision !== undefined && STATELESS) } };
}

function failedCall(request: Request, text: string): Answer {
	const isStateless = statelessRevision(request) !== undefined;
	return { result: { content: [{ type: "text", text }], isError: true, ...(isStateless && STATELESS) } };
}

/**
 * Whether the gateway did not know the session when the request came. If the session ended meanwhile, the status is 404,
 * too, but the request may have been carried out.
 */
export function isUnknownSession(error: unknown): boolean {
	return error instanceof Rejection && error.status === 404 && error.message.includes("start a new one");
}

export function isListen({ method }: Request): boolean {
	return method === "subscriptions/listen";
}
