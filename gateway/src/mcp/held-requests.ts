import { randomUUID } from "node:crypto";
import {
	type InputRequiredResult,
	type InputResponses,
	ProtocolError,
	ProtocolErrorCode,
} from "@modelcontextprotocol/server";
import type { OrInput, Question, RequestContext } from "xs-mcp-manager/core";
import { ANSWER_TIME } from "./call-options.js";

type Ask<Result> = (options: RequestContext) => Promise<OrInput<Result>>;

/** A result, or the questions of a server whose request is held. */
interface Outcome<Result> {
	readonly isHeld: boolean;
	readonly result: OrInput<Result>;
}

/**
 * Requests of clients of 2026-07-28 whose server asks in its session, as servers until 2025-11-25 do: the client gets the
 * question as a result, and repeats its request with the answer. Meanwhile the request to the server is held.
 */
export class HeldRequests {
	/** Of the ids of this process's requests: gateways of a cluster accept each other's signatures. */
	readonly #prefix = randomUUID();
	readonly #held = new Map<string, { readonly request: HeldRequest<unknown>; readonly timer: NodeJS.Timeout }>();

	/**
	 * Makes a request of a server, or continues one once the client has answered. If the server asks, the result has the
	 * questions, and the id as its `requestState`.
	 *
	 * Rejects with ProtocolError if the request has ended meanwhile, or is held by another gateway of the cluster.
	 *
	 * @param id the `requestState` of an earlier result
	 */
	async serve<Result>(client: RequestContext, ask: Ask<Result>, id: string | undefined): Promise<Outcome<Result>> {
		const request = id === undefined ? new HeldRequest(client, ask) : (this.#take(id) as HeldRequest<Result>);
		if (id !== undefined) {
			request.answer(client.inputClient?.inputResponses ?? {});
		}
		const inputRequests = await request.next(client);
		if (inputRequests === undefined) {
			return { isHeld: false, result: await request.result };
		}
		const requestState = `${this.#prefix} ${randomUUID()}`;
		const timer = setTimeout(() => {
			this.#held.delete(requestState);
			request.cancel();
		}, ANSWER_TIME).unref();
		this.#held.set(requestState, { request, timer });
		const result = { resultType: "input_required", inputRequests, requestState } as InputRequiredResult;
		return { isHeld: true, result };
	}

	#take(id: string): HeldRequest<unknown> {
		const held = this.#held.get(id);
		if (held === undefined) {
			const problem = id.startsWith(this.#prefix)
				? "Invalid or expired requestState"
				: "Invalid requestState: the server waits for the answer at another gateway of the cluster, or this gateway has restarted. Call again";
			throw new ProtocolError(ProtocolErrorCode.InvalidParams, problem, { reason: "invalid_request_state" });
		}
		this.#held.delete(id);
		clearTimeout(held.timer);
		return held.request;
	}
}

interface Pending {
	readonly question: Question;
	readonly resolve: (answer: object) => void;
	readonly reject: (error: Error) => void;
}

/** One request of a server, for a client that comes and goes. */
class HeldRequest<Result> {
	/** Settles as the request does. */
	readonly result: Promise<OrInput<Result>>;
	readonly #controller = new AbortController();
	/** The questions without an answer. */
	readonly #pending = new Map<string, Pending>();
	/** Client of the request being served: it gets progress and log messages. */
	#client: RequestContext;
	#onAsked: () => void = () => {};

	constructor(client: RequestContext, ask: Ask<Result>) {
		this.#client = client;
		const { logLevel, inputClient } = client;
		this.result = ask({
			signal: this.#controller.signal,
			logLevel,
			onProgress: client.onProgress && ((progress) => this.#client.onProgress?.(progress)),
			onLog: client.onLog && ((message) => this.#client.onLog?.(message)),
			inputClient: inputClient && { ...inputClient, ask: (question, signal) => this.#asked(question, signal) },
		});
		// Between two requests, the client does not wait for it.
		this.result.catch(() => {});
	}

	/** Settles when the server asks, with its questions, or has answered: with undefined. */
	async next(client: RequestContext): Promise<Record<string, Question> | undefined> {
		this.#client = client;
		const cancel = (): void => this.cancel();
		client.signal?.addEventListener("abort", cancel, { once: true });
		if (client.signal?.aborted) {
			this.cancel();
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
			client.signal?.removeEventListener("abort", cancel);
		}
	}

	/** Hands the client's answers to the server. */
	answer(responses: InputResponses): void {
		for (const [key, { resolve, reject }] of this.#pending) {
			const response = responses[key];
			this.#pending.delete(key);
			if (response === undefined) {
				reject(new ProtocolError(ProtocolErrorCode.InternalError, "the client has not answered"));
			} else {
				resolve(response);
			}
		}
	}

	cancel(): void {
		this.#controller.abort();
	}

	#asked(question: Question, signal: AbortSignal): Promise<object> {
		return new Promise((resolve, reject) => {
			const key = randomUUID();
			this.#pending.set(key, { question, resolve, reject });
			const withdraw = (): void => {
				this.#pending.delete(key);
				reject(new ProtocolError(ProtocolErrorCode.InternalError, "cancelled"));
			};
			for (const each of [signal, this.#controller.signal]) {
				each.addEventListener("abort", withdraw, { once: true });
			}
			this.#onAsked();
		});
	}
}
