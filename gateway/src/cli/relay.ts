import type { IncomingMessage } from "node:http";
import { text as readText } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { ACCEPT, type GatewayAddress } from "./gateway-client.js";
import { PATIENCE, Rejection, sendRequest } from "./http-request.js";
import {
	ACKNOWLEDGED,
	type Answer,
	answerWithoutGateway,
	failureOf,
	isListen,
	isUnknownSession,
	type Message,
	messagesIn,
	parameterHeaders,
	type Request,
	SUBSCRIPTION_ID,
	standardHeaders,
	statelessRevision,
} from "./relay-messages.js";

/** Milliseconds between attempts to follow the gateway's changes again after the connection was lost. */
const RETRY_DELAY = 1_000;

/** Milliseconds for telling the gateway that the client has disconnected. */
const END_TIME = 1_000;

const LISTS = ["tools", "resources", "prompts"] as const;

/** The headers that name a client's session with the gateway. */
type Session = Readonly<Record<string, string>>;

interface InProgress {
	readonly controller: AbortController;
	readonly request: Request;
	readonly done: Promise<void>;
}

interface Followed {
	readonly open: () => Promise<IncomingMessage>;
	readonly onMessage: (message: Message) => void;
	/** Anything may have changed while the stream was lost. */
	readonly onReopened: () => void;
}

/**
 * Passes the messages of one client on to a running gateway over Streamable HTTP, and back. The gateway may start later,
 * and restart: the client's session begins again then, and the client is told that anything may have changed.
 *
 * Not the SDK's client and server: a host starts a bridge for each chat, and loading their schemas took most of its CPU.
 */
export class Relay {
	readonly #send: (message: Message) => void;
	/** Undefined until a gateway has been reached. An Error if it has rejected the client. */
	#gateway: GatewayAddress | Error | undefined;
	readonly #closing = new AbortController();
	readonly #requests = new Map<unknown, InProgress>();
	/** Undefined before `initialize`, and while the gateway has lost it. */
	#session: Promise<Session> | undefined;
	/** The client's requests with which a session begins again: `initialize`, and others by what they set. */
	#initialize: Request | undefined;
	readonly #settings = new Map<unknown, Request>();
	/** The schemas of listed tools, by name. */
	readonly #schemas = new Map<unknown, unknown>();

	/** @param send sends a message to the client. Must not throw. */
	constructor(send: (message: Message) => void, gateway?: GatewayAddress) {
		this.#send = send;
		this.#gateway = gateway;
	}

	/** A gateway has been reached. */
	online(gateway: GatewayAddress): void {
		this.#gateway = gateway;
	}

	/** The gateway has rejected the client: so are its requests, with that error. */
	reject({ message }: Error): void {
		this.#gateway = new Rejection(0, message);
	}

	/** Takes a message of the client. */
	receive(message: Message): void {
		if (message.method !== undefined && message.id !== undefined) {
			this.#serve(message as Request);
			return;
		}
		const cancelled =
			message.method === "notifications/cancelled" ? this.#requests.get(message.params?.requestId) : undefined;
		cancelled?.controller.abort();
		if (cancelled === undefined || statelessRevision(cancelled.request) === undefined) {
			// A session that was lost needs neither answers nor notifications.
			this.#session
				?.then((session) => this.#post(message, session))
				.then(readText)
				.catch(() => {});
		}
	}

	/**
	 * The client sends no more. Settles when requests in progress have been answered.
	 *
	 * @param timeout milliseconds for that
	 */
	async settled(timeout: number): Promise<void> {
		const calls = [...this.#requests.values()].filter(({ request }) => !isListen(request));
		const answered = Promise.all(calls.map(({ done }) => done));
		await Promise.race([answered, delay(timeout, undefined, { ref: false })]);
	}

	/** The client has disconnected. */
	async close(): Promise<void> {
		this.#closing.abort();
		this.#requests.forEach(({ controller }) => void controller.abort());
		const ending = this.#session?.then((headers) => this.#request({ method: "DELETE", headers }));
		await Promise.race([ending?.catch(() => {}), delay(END_TIME, undefined, { ref: false })]);
	}

	#serve(request: Request): void {
		const controller = new AbortController();
		const { signal } = controller;
		const answering = isListen(request) ? this.#listen(request, controller) : this.#answer(request, signal);
		const done = answering
			.catch((error: Error) => failureOf(request, error))
			.then((answer) => {
				this.#requests.delete(request.id);
				// A request that was cancelled gets no answer.
				if (answer !== undefined && !signal.aborted) {
					this.#send({ jsonrpc: "2.0", id: request.id, ...answer });
				}
			});
		this.#requests.set(request.id, { controller, request, done });
	}

	async #answer(request: Request, signal: AbortSignal): Promise<Answer> {
		const { method, params } = request;
		if (method === "initialize") {
			return await this.#begin(request);
		}
		if (method === "ping") {
			return { result: {} };
		}
		const answer = this.#gateway === undefined ? answerWithoutGateway(request) : await this.#ask(request, signal);
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

	async #ask(request: Request, signal: AbortSignal): Promise<Answer> {
		const { params } = request;
		if (statelessRevision(request) !== undefined) {
			const headers = parameterHeaders(this.#schemas.get(params?.name), params?.arguments);
			return await this.#answerIn(await this.#post(request, headers, signal), request);
		}
		const response = await this.#inSession((session) => this.#post(request, session, signal));
		return await this.#answerIn(response, request);
	}

	/** Sends a request in the client's session, which begins again if the gateway has lost it. */
	async #inSession(send: (session: Session) => Promise<IncomingMessage>): Promise<IncomingMessage> {
		const session = this.#currentSession();
		try {
			return await send(await session);
		} catch (error) {
			if (!isUnknownSession(error)) {
				throw error;
			}
			this.#lose(session);
			return await send(await this.#currentSession());
		}
	}

	async #begin(request: Request): Promise<Answer> {
		const isFirst = this.#initialize === undefined;
		this.#initialize = request;
		this.#settings.clear();
		const opening = this.#open(request);
		// Before it has begun: the client's next messages wait for it.
		void this.#setSession(opening.then(({ session }) => session));
		if (isFirst) {
			void this.#followSession();
		}
		return this.#gateway === undefined ? answerWithoutGateway(request) : (await opening).answer;
	}

	async #open(request: Request): Promise<{ readonly session: Session; readonly answer: Answer }> {
		const response = await this.#post(request);
		const answer = await this.#answerIn(response, request);
		if (answer.result === undefined) {
			throw new Rejection(200, `${answer.error?.message}`, answer.error);
		}
		const id = `${response.headers["mcp-session-id"]}`;
		const session = { "Mcp-Session-Id": id, "MCP-Protocol-Version": `${answer.result.protocolVersion}` };
		return { session, answer };
	}

	#currentSession(): Promise<Session> {
		return this.#session ?? this.#setSession(this.#resume());
	}

	async #resume(): Promise<Session> {
		if (this.#initialize === undefined) {
			throw new Rejection(400, "start with initialize");
		}
		const { session } = await this.#open(this.#initialize);
		const initialized: Message = { jsonrpc: "2.0", method: "notifications/initialized" };
		for (const message of [initialized, ...this.#settings.values()]) {
			await readText(await this.#post(message, session));
		}
		return session;
	}

	#setSession(session: Promise<Session>): Promise<Session> {
		this.#session = session;
		session.catch(() => this.#lose(session));
		return session;
	}

	#lose(session: Promise<Session>): void {
		if (this.#session === session) {
			this.#session = undefined;
		}
	}

	/** Passes on what the gateway sends in a session without being asked. */
	async #followSession(): Promise<void> {
		const { signal } = this.#closing;
		const headers = { Accept: "text/event-stream" };
		await this.#follow(signal, {
			open: () =>
				this.#inSession((session) => this.#request({ headers: { ...session, ...headers }, signal, timeout: PATIENCE })),
			onMessage: this.#send,
			onReopened: () => this.#announce(LISTS, [...this.#settings.keys()]),
		});
	}

	/** Serves a `subscriptions/listen` until it is cancelled. */
	async #listen(request: Request, controller: AbortController): Promise<undefined> {
		const { signal } = controller;
		const { notifications = {} } = (request.params ?? {}) as { readonly notifications?: Record<string, unknown> };
		const _meta = { [SUBSCRIPTION_ID]: request.id };
		let isAcknowledged = false;
		const acknowledge = (): void => {
			if (!isAcknowledged && !signal.aborted) {
				isAcknowledged = true;
				this.#send({ jsonrpc: "2.0", method: ACKNOWLEDGED, params: { notifications, _meta } });
			}
		};
		const reject = (answer: Answer): void => {
			this.#send({ jsonrpc: "2.0", id: request.id, ...answer });
			controller.abort();
		};
		await this.#follow(signal, {
			open: async () => {
				try {
					return await this.#post(request, {}, signal);
				} catch (error) {
					if (error instanceof Rejection && error.status === 400) {
						reject(failureOf(request, error));
					} else {
						acknowledge();
					}
					throw error;
				}
			},
			onMessage: (message) => {
				if (message.method === ACKNOWLEDGED) {
					acknowledge();
				} else if (message.error !== undefined) {
					reject({ error: message.error });
				} else if (message.id === undefined) {
					this.#send(message);
				}
			},
			onReopened: () => {
				const lists = LISTS.filter((list) => notifications[`${list}ListChanged`] === true);
				this.#announce(lists, (notifications.resourceSubscriptions ?? []) as unknown[], { _meta });
			},
		});
	}

	/** Passes on what a stream of the gateway's brings. Whenever it ends, opens it again. */
	async #follow(signal: AbortSignal, { open, onMessage, onReopened }: Followed): Promise<void> {
		for (let wasLost = false; !signal.aborted; wasLost = true) {
			try {
				const response = await open();
				if (wasLost) {
					onReopened();
				}
				for await (const message of messagesIn(response)) {
					onMessage(message);
				}
			} catch {
				// The gateway is not running: calls fail with that error, and this tries again.
			}
			await delay(RETRY_DELAY, undefined, { signal }).catch(() => {});
		}
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

	/** The answer to a request. What precedes it is passed on. */
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

	async #post(message: Message, headers: Session = {}, signal = this.#closing.signal): Promise<IncomingMessage> {
		return await this.#request({
			method: "POST",
			headers: { ...ACCEPT, ...standardHeaders(message), ...headers },
			json: message,
			signal,
			timeout: PATIENCE,
		});
	}

	async #request(options: Parameters<typeof sendRequest>[1]): Promise<IncomingMessage> {
		const gateway = this.#gateway ?? new Error("no gateway is running yet");
		if (gateway instanceof Error) {
			throw gateway;
		}
		const { url, headers } = gateway;
		return await sendRequest(url, { ...options, headers: { ...options.headers, ...headers } });
	}
}
