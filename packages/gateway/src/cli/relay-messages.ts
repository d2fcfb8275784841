import { isObject } from "../firmware.js";
import { GATEWAY_INFO } from "../version.js";
import { type Message, Rejection } from "./http-request.js";

export type Request = Message & Required<Pick<Message, "id" | "method">>;

/** The answer to a request. */
export type Answer = Pick<Message, "result" | "error">;

const META = "io.modelcontextprotocol/";

/** The member of a notification's `_meta` with the id of its `subscriptions/listen`. */
export const SUBSCRIPTION_ID = `${META}subscriptionId`;

/** JSON-RPC 2.0 §5.1. The first two are server-defined. */
const CODE = { server: -32_000, sessionNotFound: -32_001, invalidParams: -32_602 };

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
	// Some clients write null for an absent member. The gateway reads the other members.
	const { params, error, ...rest } = message;
	return { ...rest, ...(params !== null && { params }), ...(error !== null && { error }) } as unknown as Message;
}

/** The revision that each message since 2026-07-28 names; undefined in a session. */
export function statelessRevision({ params }: Message): string | undefined {
	const revision = params?._meta?.[`${META}protocolVersion`];
	return typeof revision === "string" ? revision : undefined;
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
