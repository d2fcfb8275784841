import type { IncomingHttpHeaders } from "node:http";
import {
	CLIENT_CAPABILITIES_META_KEY,
	CLIENT_INFO_META_KEY,
	type ClientCapabilities,
	classifyInboundRequest,
	type InputResponses,
	isSpecType,
	type JSONRPCMessage,
	type JSONRPCNotification,
	type JSONRPCRequest,
	type JSONRPCResponse,
	LOG_LEVEL_META_KEY,
	PROTOCOL_VERSION_META_KEY,
	ProtocolError,
	ProtocolErrorCode,
	type RequestId,
	type StandardSchemaV1,
	UnsupportedProtocolVersionError,
} from "@modelcontextprotocol/server";
import { LRUCache } from "lru-cache";
import { isObject } from "xs-mcp-firmware/core/text/json";
import {
	type Cancellable,
	describeIssues,
	type LogLevel,
	type LogMessage,
	type Question,
	RateLimit,
	REVISION_OF_STATELESS,
	type RequestContext,
} from "xs-mcp-manager/core";
import { GatewayError } from "../gateway-error.js";
import type { Client } from "./client.js";

/** Maximum progress notifications of a request per second, and log messages: unread ones are queued in memory. */
const MAX_NOTIFICATIONS_PER_SECOND = 20;

/** Characters of a progress notification's text, and of a log message's data as JSON. */
const MAX_PROGRESS_TEXT = 1_000;
const MAX_LOG_DATA = 10_000;

/** The extension of SEP-2663. */
export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";

/** Milliseconds that a person, or a client's language model, has for an answer. */
export const ANSWER_TIME = 300_000;

type Members = Readonly<Record<string, unknown>>;

/** The way to a client. */
export interface Channel {
	/**
	 * Sends a message to the client. One that does not reach it is dropped.
	 *
	 * @param request the client's request that the message answers or belongs to. Default: none
	 */
	send(message: JSONRPCMessage, request?: ClientRequest): void;
	/** Called when a request gets no answer, because the client has cancelled it. */
	settle?(id: RequestId): void;
	/** Keeps the settings of the client's session beyond this process. `request` has changed them. Never rejects. */
	keep?(request: JSONRPCRequest): Promise<void>;
}

/**
 * One request of a client, from the transport that receives it to the connection of the server that answers it. The client
 * describes itself in each request since 2026-07-28, at the start of its session before.
 */
export class ClientRequest implements RequestContext {
	readonly client: Client;
	/** The message, as the client sent it. */
	readonly message: JSONRPCRequest;
	readonly channel: Channel;
	readonly id: RequestId;
	readonly method: string;
	readonly params: Members;
	/** Waiters that are cancelled with the request. Undefined for a task, which has a signal. */
	readonly awaited: Set<Cancellable> | undefined;
	readonly principal: string;
	/** The application, as it names itself. */
	readonly clientName: string | undefined;
	/** Whether the client has cancelled the request, or has disconnected. Undefined: the signal says so. */
	isCancelled: boolean | undefined;
	/** Whether its client knows tasks. In earlier revisions the extension does not exist. */
	readonly declaresTasks: boolean;
	/** The owner of the client's session; undefined if it has none. */
	readonly session: object | undefined;
	/** Passes progress on; undefined if the client wants none. */
	readonly onProgress: ((progress: Members) => void) | undefined;
	/** The client's answers to the questions of the previous request, by their keys. */
	inputResponses: InputResponses | undefined;
	/** The server's own state, if the client sends one back, once its signature has been verified. */
	requestState: string | undefined;
	readonly #meta: Members;
	#signal: AbortSignal | undefined;
	/** Undefined until the signal is asked for. */
	#controller: AbortController | undefined;
	#reason: unknown;
	#progressRate: RateLimit | undefined;
	#logRate: RateLimit | undefined;

	/** @param signal of the request or task that it is made for. Default: its own, which {@link cancel} aborts */
	constructor(client: Client, message: JSONRPCRequest, channel: Channel, signal?: AbortSignal) {
		const { id, method, params = {} } = message;
		const { _meta, inputResponses } = params as Members;
		this.client = client;
		this.message = message;
		this.channel = channel;
		this.id = id;
		this.method = method;
		this.params = params;
		this.#signal = signal;
		this.awaited = signal === undefined ? new Set() : undefined;
		this.isCancelled = signal === undefined ? false : undefined;
		this.principal = client.catalog.access.principal;
		this.session = client.isStateless ? undefined : client;
		if (isObject(inputResponses)) {
			// Answers are the bare results of questions. Others are dropped, so that the server asks again.
			const valid = Object.entries(inputResponses).filter(
				([, response]) => isObject(response) && !("method" in response) && !("result" in response),
			);
			this.inputResponses = Object.fromEntries(valid) as InputResponses;
		}
		this.#meta = isObject(_meta) ? _meta : {};
		const declared = client.isStateless ? (this.#meta[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities) : undefined;
		this.declaresTasks = declared?.extensions?.[TASKS_EXTENSION] !== undefined;
		const info = client.isStateless ? this.#meta[CLIENT_INFO_META_KEY] : client.info;
		this.clientName = (info as { readonly name: string } | undefined)?.name;
		if (this.#meta.progressToken !== undefined) {
			this.onProgress = ({ progress, total, message }) => {
				this.#progressRate ??= new RateLimit(MAX_NOTIFICATIONS_PER_SECOND);
				if (this.#progressRate.take()) {
					const text = typeof message === "string" && { message: message.slice(0, MAX_PROGRESS_TEXT) };
					this.notify("notifications/progress", { progressToken: this.#meta.progressToken, progress, total, ...text });
				}
			};
		}
	}

	get capabilities(): ClientCapabilities {
		return this.session === undefined
			? withForm(this.#meta[CLIENT_CAPABILITIES_META_KEY] ?? {})
			: this.client.capabilities;
	}

	/** The least severe log messages that the client wants; undefined: none. */
	get logLevel(): LogLevel | undefined {
		return this.session === undefined ? (this.#meta[LOG_LEVEL_META_KEY] as LogLevel | undefined) : this.client.logLevel;
	}

	/** Aborted when the request is cancelled. */
	get signal(): AbortSignal {
		if (this.#signal === undefined) {
			this.#controller = new AbortController();
			this.#signal = this.#controller.signal;
			if (this.isCancelled) {
				this.#controller.abort(this.#reason);
			}
		}
		return this.#signal;
	}

	cancel(reason?: unknown): void {
		this.isCancelled = true;
		this.#reason ??= reason;
		this.#controller?.abort(reason);
		for (const each of this.awaited ?? []) {
			each.handleEvent();
		}
	}

	/** Returns the same request for one of several devices: their progress is not the call's. */
	quiet(): ClientRequest {
		const { progressToken: _, ..._meta } = this.#meta;
		const message = { ...this.message, params: { ...this.params, _meta } };
		return new ClientRequest(this.client, message, this.channel, this.signal);
	}

	/** Sends a notification that belongs to the request. */
	notify(method: string, params: object = {}): void {
		this.channel.send({ jsonrpc: "2.0", method, params: { ...params } }, this);
	}

	/** Asks the client in its session, as the revisions until 2025-11-25 have it. Rejects with its error. */
	ask(question: Question, signal: AbortSignal): Promise<object> {
		return this.client.questions.ask(question, this, signal);
	}

	/** Passes a log message on. */
	onLog(message: LogMessage): void {
		this.#logRate ??= new RateLimit(MAX_NOTIFICATIONS_PER_SECOND);
		if (this.logLevel !== undefined && this.#logRate.take()) {
			const { length } = JSON.stringify(message.data) ?? "";
			const data = length > MAX_LOG_DATA ? `${length} characters, at most ${MAX_LOG_DATA} are sent` : message.data;
			this.notify("notifications/message", { ...message, data: data ?? null });
		}
	}
}

/** In older revisions `elicitation: {}` means forms. */
export function withForm(capabilities: ClientCapabilities): ClientCapabilities {
	const { elicitation } = capabilities;
	const isBare = elicitation !== undefined && elicitation.form === undefined && elicitation.url === undefined;
	return isBare ? { ...capabilities, elicitation: { form: {} } } : capabilities;
}

/** A method that clients may request. */
export interface Method {
	/** Checks the parameters, and serves the request. */
	readonly serve: (request: ClientRequest) => object | Promise<object>;
	/** The only revisions that have the method: those with sessions, or the ones since 2026-07-28. Default: all. */
	readonly era?: "session" | "stateless" | undefined;
}

/**
 * Makes a method of its parameters' schema and a function that gets them checked.
 *
 * The function throws or rejects with ProtocolError if the parameters are not valid.
 */
export function method<Params>(
	schema: StandardSchemaV1<unknown, Params>,
	serve: (params: Params, request: ClientRequest) => object | Promise<object>,
	era?: Method["era"],
): Method {
	return { era, serve: (request) => serve(readParams(schema, request.params), request) };
}

/** @throws ProtocolError that names the member that is wrong */
export function readParams<Params>(schema: StandardSchemaV1<unknown, Params>, params: object): Params {
	// Neither the SDK's schemas nor the gateway's have asynchronous parts.
	const checked = schema["~standard"].validate(params) as Awaited<ReturnType<(typeof schema)["~standard"]["validate"]>>;
	if (checked.issues !== undefined) {
		const issues = checked.issues.map(({ message, path = [] }) => ({
			message,
			path: path.map((part) => (typeof part === "object" ? part.key : part)),
		}));
		throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Invalid params: ${describeIssues(issues, "params")}`);
	}
	return checked.value;
}

const ANSWERS: Readonly<Record<Question["method"], (answer: unknown) => boolean>> = {
	"elicitation/create": isSpecType.ElicitResult,
	"sampling/createMessage": isSpecType.CreateMessageResultWithTools,
	"roots/list": isSpecType.ListRootsResult,
};

/** Requests to a client in its session, as the revisions until 2025-11-25 have them. */
export class ClientQuestions {
	/** Functions that take the answers to questions, by request id. */
	readonly #pending = new Map<RequestId, (response: JSONRPCResponse) => void>();
	/** The first question has id 1: some clients take 0 for no id. */
	#lastId = 0;

	/**
	 * Asks the client while it waits for one of its requests. Rejects with the client's error, on a time-out or an invalid answer.
	 *
	 * @param signal withdraws the question
	 */
	async ask(question: Question, request: ClientRequest, signal: AbortSignal): Promise<object> {
		this.#lastId += 1;
		const id = this.#lastId;
		const { method, params } = question;
		const ended = AbortSignal.any([signal, request.signal]);
		if (ended.aborted) {
			throw new ProtocolError(ProtocolErrorCode.InternalError, "cancelled");
		}
		const answer = new Promise<JSONRPCResponse>((resolve) => this.#pending.set(id, resolve));
		const cancel = (reason: string): void => {
			request.notify("notifications/cancelled", { requestId: id, reason });
			this.#fail(id, reason);
		};
		const withdraw = (): void => cancel("the question was withdrawn");
		ended.addEventListener("abort", withdraw, { once: true });
		const timer = setTimeout(() => cancel(`${method}: no answer within ${ANSWER_TIME / 1_000} s`), ANSWER_TIME);
		try {
			request.channel.send({ jsonrpc: "2.0", id, method, ...(params && { params: { ...params } }) }, request);
			const response = await answer;
			if ("error" in response) {
				const { code, message, data } = response.error;
				throw ProtocolError.fromError(code, message, data);
			}
			if (!ANSWERS[method](response.result)) {
				throw new ProtocolError(ProtocolErrorCode.InternalError, "the client's answer is not valid MCP");
			}
			return response.result;
		} finally {
			clearTimeout(timer);
			ended.removeEventListener("abort", withdraw);
			this.#pending.delete(id);
		}
	}

	/** Takes an answer of the client. */
	answered(response: JSONRPCResponse): void {
		this.#pending.get(response.id as RequestId)?.(response);
	}

	/** Rejects the questions without an answer: the client has disconnected. */
	close(): void {
		for (const id of this.#pending.keys()) {
			this.#fail(id, "the client has disconnected");
		}
	}

	#fail(id: RequestId, message: string): void {
		this.answered({ jsonrpc: "2.0", id, error: { code: ProtocolErrorCode.InternalError, message } });
	}
}

/** Whether a value is a JSON-RPC message. The SDK's checks take as much CPU as serving a message. */
export function isMessage(value: unknown): value is JSONRPCMessage {
	if (!isObject(value) || value.jsonrpc !== "2.0") {
		return false;
	}
	const { method, params, id, result, error } = value;
	const hasId = typeof id === "string" || Number.isSafeInteger(id);
	if ("method" in value) {
		return typeof method === "string" && (params === undefined || isObject(params)) && (hasId || !("id" in value));
	}
	const isError = isObject(error) && Number.isSafeInteger(error.code) && typeof error.message === "string";
	return hasId && (error === undefined ? isObject(result) : isError && result === undefined);
}

/**
 * Reads a message of 2026-07-28, in which each request names its revision and describes its client. Undefined if it belongs to
 * a session.
 *
 * @param headers of the HTTP request that the message came with, which must agree with it
 * @throws GatewayError if it is not valid, or of a later revision
 */
export function readStateless(
	body: unknown,
	httpMethod = "POST",
	headers?: IncomingHttpHeaders,
): JSONRPCRequest | JSONRPCNotification | undefined {
	const { "mcp-protocol-version": version, "mcp-method": method, "mcp-name": mcpNameHeader } = headers ?? {};
	const isRequest = httpMethod === "POST" && isMessage(body) && "method" in body && "id" in body;
	if (isRequest && isDescribed(body.params?._meta)) {
		if (headers === undefined || (version === REVISION_OF_STATELESS && method === body.method)) {
			return body;
		}
	}
	const given = { httpMethod, body, protocolVersionHeader: version, mcpMethodHeader: method, mcpNameHeader };
	const inbound = classifyInboundRequest(given as Parameters<typeof classifyInboundRequest>[0]);
	if (inbound.kind === "legacy") {
		return undefined;
	}
	if (inbound.kind !== "reject" && inbound.classification.revision === REVISION_OF_STATELESS) {
		return inbound.message;
	}
	const rejection =
		inbound.kind === "reject"
			? inbound
			: new UnsupportedProtocolVersionError({
					supported: [REVISION_OF_STATELESS],
					requested: inbound.classification.revision ?? "unknown",
				});
	const { code: rpc, message, data } = rejection;
	throw new GatewayError("protocol", message, { rpc, data, id: (body as { readonly id?: unknown }).id });
}

/** The last descriptions of clients that were valid, as JSON: a client describes itself in each request. */
const valid = new LRUCache<string, true>({ max: 100 });

/** Characters of a description that is remembered. */
const MAX_REMEMBERED = 2_000;

function isDescribed(meta: Members = {}): boolean {
	const { [CLIENT_CAPABILITIES_META_KEY]: capabilities, [CLIENT_INFO_META_KEY]: info } = meta;
	const level = meta[LOG_LEVEL_META_KEY];
	if (meta[PROTOCOL_VERSION_META_KEY] !== REVISION_OF_STATELESS) {
		return false;
	}
	const text = JSON.stringify({ capabilities, info, level });
	const isValid =
		valid.has(text) ||
		(isSpecType.ClientCapabilities(capabilities) &&
			(info === undefined || isSpecType.Implementation(info)) &&
			(level === undefined || isSpecType.LoggingLevel(level)));
	if (isValid && text.length <= MAX_REMEMBERED) {
		valid.set(text, true);
	}
	return isValid;
}
