import { AsyncLocalStorage } from "node:async_hooks";
import { type Client, type ClientCapabilities, ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/client";
import { canAnswer, QUESTIONS, type Question } from "./asking.js";
import type { PendingRequest } from "./connection.js";
import { isOfClient } from "./results.js";

const METHODS = Object.keys(QUESTIONS) as (keyof typeof QUESTIONS)[];

/**
 * A server's questions in its session (up to 2025-11-25), for the client of the current request. Over Streamable HTTP
 * the question comes in the response to the request; over other transports it names no request, so that it is answered
 * only if all requests in progress are of one client.
 */
export class Questions {
	/** The request in whose response a message came. */
	readonly #current = new AsyncLocalStorage<PendingRequest>();
	readonly #pending: ReadonlyMap<unknown, PendingRequest>;

	/** @param capabilities the capabilities sent to the server: it gets answers only within them */
	constructor(
		client: Pick<Client, "setRequestHandler">,
		capabilities: ClientCapabilities,
		pending: ReadonlyMap<unknown, PendingRequest>,
	) {
		this.#pending = pending;
		for (const method of METHODS.filter((each) => capabilities[QUESTIONS[each]] !== undefined)) {
			client.setRequestHandler(method, async ({ params }, { mcpReq }) => {
				const question = { method, ...(params && { params }) };
				return (await this.#ask(question, mcpReq.signal)) as never;
			});
		}
	}

	/** Sends a request: what the server asks in its response is for the client of this request. */
	during<Result>(request: PendingRequest, send: () => Result): Result {
		return this.#current.run(request, send);
	}

	async #ask(question: Question, signal: AbortSignal): Promise<object> {
		const request = this.#requestOf(question);
		const { context } = request;
		if (context.ask === undefined || !canAnswer(context.capabilities ?? {}, question)) {
			const text = `${question.method}: the client of this request does not support ${QUESTIONS[question.method]}`;
			throw new ProtocolError(ProtocolErrorCode.MethodNotFound, text);
		}
		return await request.pauseFor(context.ask(question, signal));
	}

	/** @throws ProtocolError if it is not certain */
	#requestOf({ method }: Question): PendingRequest {
		const known = this.#current.getStore();
		if (known !== undefined && this.#pending.has(known.id)) {
			return known;
		}
		const [first, ...others] = [...this.#pending.values()].filter(({ request }) => isOfClient(request.method));
		if (first === undefined) {
			throw new ProtocolError(ProtocolErrorCode.InternalError, `${method}: no request of a client is in progress`);
		}
		const { session } = first.context;
		if (others.some(({ context }) => session === undefined || context.session !== session)) {
			const text = `${method}: requests of several clients are in progress, and this does not say which is meant`;
			throw new ProtocolError(ProtocolErrorCode.InternalError, text);
		}
		return first;
	}
}
