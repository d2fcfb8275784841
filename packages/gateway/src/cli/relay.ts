import type { IncomingMessage } from "node:http";
import { text as readText } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import type { JSONRPCMessage } from "@modelcontextprotocol/server";
import { GatewayError } from "../gateway-error.js";
import type { Channel } from "../mcp/client-request.js";
import { GATEWAY_INFO } from "../version.js";
import {
	ACCEPT,
	type GatewayAddress,
	type Message,
	messagesIn,
	PATIENCE,
	repeatingHeaders,
	sendRequest,
} from "./gateway-client.js";

/** Milliseconds between attempts to follow the gateway's changes again, and for telling it that the client has disconnected. */
const RETRY_DELAY = 1_000;
const END_TIME = 1_000;

const LISTS = ["tools", "resources", "prompts"];
const LISTEN = "subscriptions/listen";
const ACKNOWLEDGED = "notifications/subscriptions/acknowledged";
const META = "io.modelcontextprotocol/";

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

type Request = Message & Required<Pick<Message, "id" | "method">>;

type Answer = Pick<Message, "result" | "error">;

/** A client's session with the gateway: the headers that name it, and the answer to `initialize`. */
interface Session {
	readonly headers: Readonly<Record<string, string>>;
	readonly answer: Answer;
}

/**
 * Passes the messages of one client on to a running gateway over Streamable HTTP, and back. The gateway may start later,
 * and restart. The session is then opened again, and the client gets change notifications for all lists and settings.
 *
 * Not the SDK's client and server: a host starts a bridge for each chat, and loading their schemas took most of its CPU.
 */
export class Relay {
	/** Undefined until a gateway has been reached. The error with which it has rejected the client answers every request. */
	gateway: GatewayAddress | Error | undefined;
	readonly #client: Channel;
	readonly #closing = new AbortController();
	/** Requests in progress, by their ids. */
	readonly #requests = new Map<unknown, { controller: AbortController; method: string; done: Promise<void> }>();
	/** Undefined before `initialize`, and while the gateway has lost it. */
	#session: Promise<Session> | undefined;
	/** The client's requests with which a session begins again: `initialize`, and others by what they set. */
	#initialize: Request | undefined;
	readonly #settings = new Map<unknown, Request>();
	/** The schemas of listed tools, by name. */
	readonly #schemas = new Map<unknown, unknown>();

	constructor(client: Channel, gateway?: GatewayAddress) {
		this.#client = client;
		this.gateway = gateway;
	}

	/** Takes a message of the client. */
	receive(message: Message): void {
		if (message.method !== undefined && message.id !== undefined) {
			const controller = new AbortController();
			const done = this.#serve(message as Request, controller.signal);
			this.#requests.set(message.id, { controller, method: message.method, done });
			return;
		}
		if (message.method === "notifications/cancelled") {
			this.#requests.get(message.params?.requestId)?.controller.abort();
		}
		// A session that was lost needs neither answers nor notifications.
		this.#session
			?.then(({ headers }) => this.#post(message, headers))
			.then(readText)
			.catch(() => {});
	}

	/** Settles when requests in progress have been answered, at the latest after `timeout` ms: the client sends no more. */
	async settled(timeout: number): Promise<void> {
		const calls = [...this.#requests.values()].filter(({ method }) => method !== LISTEN);
		const answered = Promise.all(calls.map(({ done }) => done));
		await Promise.race([answered, delay(timeout, undefined, { ref: false })]);
	}

	/** Ends the client's session: it has disconnected. */
	async close(): Promise<void> {
		this.#closing.abort();
		for (const { controller } of this.#requests.values()) {
			controller.abort();
		}
		const ending = this.#session?.then(({ headers }) => this.#request({ method: "DELETE", headers }));
		await Promise.race([ending?.catch(() => {}), delay(END_TIME, undefined, { ref: false })]);
	}

	async #serve(request: Request, signal: AbortSignal): Promise<void> {
		const { id } = request;
		const answer = await this.#answer(request, signal).catch((error: Error) => failureOf(request, error));
		this.#requests.delete(id);
		// A request that was cancelled gets no answer.
		if (answer !== undefined && !signal.aborted) {
			this.#send({ jsonrpc: "2.0", id, ...answer });
		}
	}

	async #answer(request: Request, signal: AbortSignal): Promise<Answer | undefined> {
		const { method, params } = request;
		if (method === "initialize") {
			return await this.#start(request);
		}
		if (method === "ping") {
			return { result: {} };
		}
		if (method === LISTEN) {
			return await this.#listen(request, signal);
		}
		const answer = this.gateway === undefined ? answerWithoutGateway(request) : await this.#ask(request, signal);
		if (method === "tools/list") {
			for (const { name, inputSchema } of (answer.result?.tools ?? []) as Record<string, unknown>[]) {
				this.#schemas.set(name, inputSchema);
			}
		} else if (answer.result !== undefined && (method === "logging/setLevel" || method === "resources/subscribe")) {
			this.#settings.set(params?.uri, request);
		} else if (method === "resources/unsubscribe") {
			this.#settings.delete(params?.uri);
		}
		return answer;
	}

	async #start(request: Request): Promise<Answer> {
		const isFirst = this.#initialize === undefined;
		this.#initialize = request;
		this.#settings.clear();
		const session = this.#open(false);
		if (isFirst) {
			// Stream of unsolicited messages. Lists and resources may have changed while it was lost.
			const { signal } = this.#closing;
			const stream = ({ headers }: Session) =>
				this.#request({ headers: { ...headers, Accept: "text/event-stream" }, signal, timeout: PATIENCE });
			const onReopened = (): void => this.#announce(LISTS, [...this.#settings.keys()]);
			void this.#follow(
				signal,
				() => this.#inSession(stream),
				onReopened,
				(message) => void this.#send(message),
			);
		}
		return this.gateway === undefined ? answerWithoutGateway(request) : (await session).answer;
	}

	/** Sends a request in the client's session, which begins again if the gateway has lost it. */
	async #inSession(send: (session: Session) => Promise<IncomingMessage>): Promise<IncomingMessage> {
		const session = this.#session ?? this.#open();
		try {
			return await send(await session);
		} catch (error) {
			// A session that ended meanwhile has this status, too, but its request may have been carried out.
			const isUnknown =
				error instanceof GatewayError && error.status === 404 && error.message.includes("start a new one");
			if (!isUnknown) {
				throw error;
			}
			this.#lose(session);
			return await send(await (this.#session ?? this.#open()));
		}
	}

	/**
	 * Opens the client's session. Later messages wait for it.
	 *
	 * @param isAgain whether to repeat the client's messages since `initialize`, because the client does not know of the new session
	 */
	#open(isAgain = true): Promise<Session> {
		const session = this.#makeSession(isAgain);
		this.#session = session;
		session.catch(() => this.#lose(session));
		return session;
	}

	#lose(session: Promise<Session>): void {
		if (this.#session === session) {
			this.#session = undefined;
		}
	}

	async #makeSession(isAgain: boolean): Promise<Session> {
		const request = this.#initialize;
		if (request === undefined) {
			throw new GatewayError("rejected", "start with initialize");
		}
		const response = await this.#post(request);
		const answer = await this.#answerIn(response, request);
		if (answer.result === undefined) {
			const { message, code: rpc, data } = answer.error ?? {};
			throw new GatewayError("rejected", `${message}`, { status: 200, rpc, data });
		}
		const id = `${response.headers["mcp-session-id"]}`;
		const headers = { "Mcp-Session-Id": id, "MCP-Protocol-Version": `${answer.result.protocolVersion}` };
		const initialized: Message = { jsonrpc: "2.0", method: "notifications/initialized" };
		for (const message of isAgain ? [initialized, ...this.#settings.values()] : []) {
			await readText(await this.#post(message, headers));
		}
		return { headers, answer };
	}

	/** Serves a `subscriptions/listen` until it is cancelled, or the gateway answers it. */
	async #listen(request: Request, signal: AbortSignal): Promise<Answer | undefined> {
		const { notifications = {} } = (request.params ?? {}) as { readonly notifications?: Record<string, unknown> };
		const _meta = { [`${META}subscriptionId`]: request.id };
		let isAcknowledged = false;
		const acknowledge = (): void => {
			if (!isAcknowledged && !signal.aborted) {
				isAcknowledged = true;
				this.#send({ jsonrpc: "2.0", method: ACKNOWLEDGED, params: { notifications, _meta } });
			}
		};
		const open = (): Promise<IncomingMessage | Answer> =>
			this.#post(request, {}, signal).catch((error: Error) => {
				if (error instanceof GatewayError && error.status === 400) {
					return failureOf(request, error);
				}
				acknowledge();
				throw error;
			});
		const onReopened = (): void => {
			const lists = LISTS.filter((list) => notifications[`${list}ListChanged`] === true);
			this.#announce(lists, (notifications.resourceSubscriptions ?? []) as unknown[], { _meta });
		};
		return await this.#follow(signal, open, onReopened, (message) => {
			if (message.error !== undefined) {
				return { error: message.error };
			}
			if (message.method === ACKNOWLEDGED) {
				acknowledge();
			} else if (message.id === undefined) {
				this.#send(message);
			}
			return undefined;
		});
	}

	/** Takes the messages of a stream, which is opened again whenever it ends. Settles with an answer that ends it. */
	async #follow(
		signal: AbortSignal,
		open: () => Promise<IncomingMessage | Answer>,
		onReopened: () => void,
		take: (message: Message) => Answer | undefined,
	): Promise<Answer | undefined> {
		for (let wasLost = false; !signal.aborted; wasLost = true) {
			try {
				const response = await open();
				if (!("headers" in response)) {
					return response;
				}
				if (wasLost) {
					onReopened();
				}
				for await (const message of messagesIn(response)) {
					const answer = take(message);
					if (answer !== undefined) {
						return answer;
					}
				}
			} catch {
				// The gateway is not running: calls fail with that error, and this tries again.
			}
			await delay(RETRY_DELAY, undefined, { signal }).catch(() => {});
		}
		return undefined;
	}

	/** Tells the client that anything may have changed. */
	#announce(lists: readonly string[], uris: readonly unknown[], params: object = {}): void {
		for (const list of lists) {
			this.#send({ jsonrpc: "2.0", method: `notifications/${list}/list_changed`, params: { ...params } });
		}
		for (const uri of uris.filter((each) => each !== undefined)) {
			this.#send({ jsonrpc: "2.0", method: "notifications/resources/updated", params: { uri, ...params } });
		}
	}

	/** Asks the gateway. */
	async #ask(request: Request, signal: AbortSignal): Promise<Answer> {
		const response = await (statelessRevision(request) === undefined
			? this.#inSession(({ headers }) => this.#post(request, headers, signal))
			: this.#post(request, {}, signal));
		return await this.#answerIn(response, request);
	}

	/** The answer to a request. Messages before it are passed on. */
	async #answerIn(response: IncomingMessage, { id }: Request): Promise<Answer> {
		for await (const message of messagesIn(response)) {
			if (message.id === id && message.method === undefined) {
				const { result, error } = message;
				return error === undefined ? { result: result ?? {} } : { error };
			}
			this.#send(message);
		}
		throw new Error("the response ended without an answer");
	}

	async #post(message: Message, session = {}, signal = this.#closing.signal): Promise<IncomingMessage> {
		const revision = statelessRevision(message);
		const schema = this.#schemas.get(message.params?.name);
		const repeated = revision !== undefined && repeatingHeaders(message, revision, schema);
		const headers = { ...ACCEPT, ...repeated, ...session };
		return await this.#request({ method: "POST", headers, json: message, signal, timeout: PATIENCE });
	}

	#send(message: Message): void {
		this.#client.send(message as JSONRPCMessage);
	}

	async #request(options: Parameters<typeof sendRequest>[1]): Promise<IncomingMessage> {
		const gateway = this.gateway ?? new Error("no gateway is running yet");
		if (gateway instanceof Error) {
			throw gateway;
		}
		return await sendRequest(gateway.url, { ...options, headers: { ...options.headers, ...gateway.headers } });
	}
}

/** The revision that each message since 2026-07-28 names; undefined in a session. */
function statelessRevision({ params }: Message): string | undefined {
	const revision = params?._meta?.[`${META}protocolVersion`];
	return typeof revision === "string" ? revision : undefined;
}

/** The answer to a request that has failed. A call of a tool fails as a result, which a model can read. */
function failureOf(request: Request, error: Error): Answer {
	const { rpc: code = CODE.server, data } = error instanceof GatewayError ? error : {};
	const lost = `lost the connection to the gateway: ${error.message || (error as NodeJS.ErrnoException).code}`;
	const message = error instanceof GatewayError ? error.message : lost;
	const isUnanswered = code === CODE.server || code === CODE.sessionNotFound;
	return request.method === "tools/call" && isUnanswered
		? failedCall(request, `The gateway did not answer: ${message}. The call may have been carried out, or not.`)
		: { error: { code, message, data } };
}

/** The answer to a request until a gateway has been reached. */
function answerWithoutGateway(request: Request): Answer {
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
