import { randomBytes, randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import {
	type ClientCapabilities,
	createRequestStateCodec,
	type InputRequiredResult,
	type InputResponses,
	isInputRequiredResult,
	MissingRequiredClientCapabilityError,
	ProtocolError,
	ProtocolErrorCode,
	type ServerContext,
} from "@modelcontextprotocol/server";
import {
	canAnswer,
	capabilityFor,
	type Question,
	type Request,
	type RequestContext,
	type Results,
	type Server,
} from "xs-mcp-manager/core";
import { ANSWER_TIME, ClientRequest } from "./client-request.js";

/** The requests that a server may answer by asking for input. */
type AskingMethod = "tools/call" | "resources/read" | "prompts/get";

type Answer = Results[AskingMethod];

/** The clients' form of a server's `requestState`. */
interface SignedState {
	/** The key of the catalog of the client that it is for. */
	readonly catalog: string;
	readonly method: string;
	/** The id of the server that it came from, and the name or URI that was asked for. */
	readonly server: string;
	readonly target: string;
	/** The server's own; of a request that is held, its id. */
	readonly state: string;
	/** Whether it is a request that is held for its answer. */
	readonly isHeld?: boolean;
}

/** Seconds for which a client has time to answer. */
const TIME_TO_ANSWER = 600;

/** How often a server may ask during one request of a client in a session. */
const MAX_ROUNDS = 8;

/** Milliseconds before a request is repeated for a server that asks nothing. */
const REPEAT_DELAY = 250;

/** Forwards questions of servers to clients. */
export type Asking = ReturnType<typeof makeAsking>;

/**
 * Forwards questions of servers to clients. A client of 2026-07-28 gets the questions as a result, and repeats its request with
 * the answers and a state. The state is signed: a client cannot change it, or use it for another request.
 *
 * @param key 32 bytes or more. Gateways with the same key accept each other's states. The default key is random, so clients
 * must repeat their requests after a restart.
 */
export function makeAsking(key: string | Uint8Array = randomBytes(32)) {
	const codec = createRequestStateCodec<SignedState>({ key, ttlSeconds: TIME_TO_ANSWER });
	/** Prefix of the ids of requests that this process holds: gateways of a cluster accept each other's signatures. */
	const prefix = randomUUID();
	const waiting = new Map<string, { readonly request: HeldRequest; readonly timer: NodeJS.Timeout }>();

	/**
	 * Makes a client's request of a server. If the server needs input first, the client is asked: in its session, or by the
	 * result. Rejects as {@link Server.call} does, and with ProtocolError if the client cannot be asked.
	 *
	 * @param answer of the server, if it has been asked already
	 */
	const request = async <Method extends AskingMethod>(
		request: ClientRequest,
		server: Server,
		made: Request<Method>,
		answer?: Results[Method],
	): Promise<Results[Method]> => {
		const { name, uri } = made.params ?? {};
		const of = { server: server.id, target: `${name ?? uri}` };
		const { isStateless } = request.client;
		const signed = request.params.requestState === undefined ? undefined : await open(request, of);
		if (isStateless && server.configured) {
			return (await serveHeld(request, server, made, { of, signed })) as Results[Method];
		}
		if (isStateless) {
			// Devices cannot ask in their session.
			request.requestState = signed?.state;
		}
		const result = answer ?? (await send(server, made, request));
		if (!isInputRequiredResult(result)) {
			return result as Results[Method];
		}
		const asked = isStateless ? sign(request, result, of) : askInSession(request, server, made, result);
		return (await asked) as Results[Method];
	};

	/** A server that asks in its session does not have its answer when its client gets the question. */
	const serveHeld = async (
		request: ClientRequest,
		server: Server,
		made: Request,
		{ of, signed }: { of: Pick<SignedState, "server" | "target">; signed: SignedState | undefined },
	): Promise<Answer> => {
		const held = signed?.isHeld ? take(signed.state) : new HeldRequest(request, signed?.state);
		const inputRequests = await held.next(request, server, made);
		if (inputRequests === undefined) {
			return await sign(request, (await held.result) as Answer, of);
		}
		const requestState = `${prefix} ${randomUUID()}`;
		const timer = setTimeout(() => {
			waiting.delete(requestState);
			held.cancel();
		}, ANSWER_TIME).unref();
		waiting.set(requestState, { request: held, timer });
		const asked = { resultType: "input_required", inputRequests, requestState };
		return await sign(request, asked as InputRequiredResult, { ...of, isHeld: true });
	};

	/**
	 * Signs the state of a request for input, for its client.
	 *
	 * @throws ProtocolError if the client has not declared that it can be asked
	 */
	const sign = async <Result extends Answer>(
		{ client, method, capabilities }: ClientRequest,
		result: Result,
		of: Pick<SignedState, "server" | "target" | "isHeld">,
	): Promise<Result> => {
		if (!isInputRequiredResult(result)) {
			return result;
		}
		const { inputRequests = {}, requestState: state } = result;
		for (const question of Object.values(inputRequests)) {
			checkQuestion(capabilities, question as Question);
		}
		if (state === undefined && Object.keys(inputRequests).length === 0) {
			throw new ProtocolError(ProtocolErrorCode.InternalError, "the server asks for input, but sends no question");
		}
		return state === undefined
			? result
			: { ...result, requestState: await codec.mint({ ...of, catalog: client.catalog.key, method, state }) };
	};

	/**
	 * Verifies the state that a request brings back; undefined if it brings none. Rejects with ProtocolError if it was given to
	 * another client, or for another request.
	 */
	const open = async (
		request: ClientRequest,
		{ server, target }: Pick<SignedState, "server" | "target">,
	): Promise<SignedState | undefined> => {
		const { requestState: state } = request.params;
		if (state === undefined) {
			return undefined;
		}
		const signed =
			typeof state === "string" ? await codec.verify(state, {} as ServerContext).catch(() => undefined) : undefined;
		const isOfRequest = signed?.catalog === request.client.catalog.key && signed.method === request.method;
		if (signed === undefined || !isOfRequest || signed.server !== server || signed.target !== target) {
			throw invalidState("Invalid or expired requestState");
		}
		return signed;
	};

	/** @throws ProtocolError if the request has ended meanwhile, or is held by another gateway of the cluster */
	const take = (id: string): HeldRequest => {
		const held = waiting.get(id);
		if (held === undefined) {
			const isExpired = id.startsWith(prefix);
			throw invalidState(
				isExpired
					? "Invalid or expired requestState"
					: "Invalid requestState: the server waits for the answer at another gateway of the cluster, or this gateway has restarted. Call again",
			);
		}
		waiting.delete(id);
		clearTimeout(held.timer);
		return held.request;
	};
	return { request, sign, open };
}

/** @throws ProtocolError if a client has not declared the capability for a question, or MCP has no such question */
export function checkQuestion(capabilities: ClientCapabilities, question: Question): void {
	const requiredCapabilities = capabilityFor(question);
	if (requiredCapabilities === undefined) {
		throw new ProtocolError(
			ProtocolErrorCode.InternalError,
			`the server asks by ${question.method}, which is not a question of MCP`,
		);
	}
	if (!canAnswer(capabilities, question)) {
		const [needed] = Object.keys(requiredCapabilities);
		const text = `the client has not declared the capability ${needed}`;
		throw new MissingRequiredClientCapabilityError({ requiredCapabilities }, text);
	}
}

function invalidState(problem: string): ProtocolError {
	return new ProtocolError(ProtocolErrorCode.InvalidParams, problem, { reason: "invalid_request_state" });
}

function send(server: Server, made: Request, context: RequestContext): Promise<Answer> {
	return made.tool === undefined
		? (server.request(made, context) as Promise<Answer>)
		: server.call(made.tool, made.params?.arguments ?? {}, context);
}

/** Asks a client of a revision until 2025-11-25 by requests, and repeats its own with the answers. */
async function askInSession(request: ClientRequest, server: Server, made: Request, first: Answer): Promise<Answer> {
	let result = first;
	for (let round = 0; isInputRequiredResult(result); round += 1) {
		const { inputRequests = {}, requestState } = result;
		const questions = Object.entries(inputRequests) as [string, Question][];
		if (round === MAX_ROUNDS) {
			throw new ProtocolError(ProtocolErrorCode.InternalError, `more than ${MAX_ROUNDS} requests for input`);
		}
		for (const [, question] of questions) {
			checkQuestion(request.capabilities, question);
		}
		if (questions.length === 0) {
			await delay(REPEAT_DELAY, undefined, { signal: request.signal });
		}
		const failed = new AbortController();
		const asked = questions.map(async ([key, { method, params }]) => {
			// Revisions up to 2025-11-25 require an id for URL-mode elicitation.
			const id = params?.mode === "url" && { elicitationId: randomUUID() };
			return [key, await request.ask({ method, ...(params && { params: { ...id, ...params } }) }, failed.signal)];
		});
		try {
			request.inputResponses = Object.fromEntries(await Promise.all(asked)) as InputResponses;
		} catch (error) {
			failed.abort();
			throw error;
		}
		request.requestState = requestState;
		result = await send(server, made, request);
	}
	return result;
}

interface PendingQuestion {
	readonly question: Question;
	readonly resolve: (answer: object) => void;
	readonly reject: (error: Error) => void;
}

/**
 * A request of a server that asks in its session, as servers until 2025-11-25 do, for a client of 2026-07-28, which comes and
 * goes: it is held while the client has the questions.
 */
class HeldRequest extends ClientRequest {
	/** Undefined until it is made. Settles as the request does. */
	result: Promise<Answer> | undefined;
	override readonly onProgress: ClientRequest["onProgress"];
	/** The questions without an answer. */
	readonly #pending = new Map<string, PendingQuestion>();
	/** The client's request that is being served: it gets progress and log messages. */
	#current: ClientRequest;
	#onAsked: () => void = () => {};

	constructor(first: ClientRequest, requestState: string | undefined) {
		super(first.client, first.message, first.channel);
		this.#current = first;
		this.requestState = requestState;
		this.onProgress = first.onProgress && ((progress) => this.#current.onProgress?.(progress));
	}

	override onLog(message: Parameters<ClientRequest["onLog"]>[0]): void {
		this.#current.onLog(message);
	}

	override ask(question: Question, signal: AbortSignal): Promise<object> {
		return new Promise((resolve, reject) => {
			const key = randomUUID();
			this.#pending.set(key, { question, resolve, reject });
			const withdraw = (): void => {
				this.#pending.delete(key);
				reject(new ProtocolError(ProtocolErrorCode.InternalError, "cancelled"));
			};
			for (const each of [signal, this.signal]) {
				each.addEventListener("abort", withdraw, { once: true });
			}
			this.#onAsked();
		});
	}

	/**
	 * Makes the request, or hands the client's answers to the server. Settles when the server asks, with its questions, or has
	 * answered: with undefined.
	 */
	async next(current: ClientRequest, server: Server, made: Request): Promise<Record<string, Question> | undefined> {
		this.#current = current;
		const cancel = (): void => this.cancel();
		current.signal.addEventListener("abort", cancel, { once: true });
		if (current.signal.aborted) {
			this.cancel();
		}
		if (this.result === undefined) {
			this.result = send(server, made, this);
		} else {
			for (const [key, { resolve, reject }] of this.#pending) {
				const response = current.inputResponses?.[key];
				this.#pending.delete(key);
				if (response === undefined) {
					reject(new ProtocolError(ProtocolErrorCode.InternalError, "the client has not answered"));
				} else {
					resolve(response);
				}
			}
		}
		const ended = this.result.then(
			() => true,
			() => true,
		);
		try {
			// A server may withdraw its question.
			while (this.#pending.size === 0) {
				const asked = new Promise<boolean>((resolve) => {
					this.#onAsked = () => resolve(false);
				});
				if (await Promise.race([ended, asked])) {
					return undefined;
				}
			}
			return Object.fromEntries([...this.#pending].map(([key, { question }]) => [key, question]));
		} finally {
			current.signal.removeEventListener("abort", cancel);
		}
	}
}
