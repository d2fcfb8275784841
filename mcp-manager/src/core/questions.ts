import { AsyncLocalStorage } from "node:async_hooks";
import {
	type Client,
	type ClientCapabilities,
	ProtocolError,
	ProtocolErrorCode,
	type RequestOptions,
	SdkError,
	SdkErrorCode,
} from "@modelcontextprotocol/client";
import type { InputClient, Question } from "./asking.js";

/** The longest time of a request in milliseconds, even with progress and questions. */
export const MAX_REQUEST_TIME = 3_600_000;

/** The requests that a server may make of its client (until 2025-11-25), and the capability that each needs. */
const CAPABILITY_FOR = {
	"elicitation/create": "elicitation",
	"sampling/createMessage": "sampling",
	"roots/list": "roots",
} as const;

const METHODS = Object.keys(CAPABILITY_FOR) as (keyof typeof CAPABILITY_FOR)[];

/** A request during which the server may ask. */
interface Exchange {
	readonly inputClient: InputClient | undefined;
	/** Counts questions that await an answer: +1 or −1. */
	readonly countQuestions: (change: number) => void;
}

/**
 * A server's questions in its session (up to 2025-11-25), for the client of the current request. Over Streamable HTTP
 * the question comes in the response to the request; over other transports it names no request, so that it is answered
 * only if all requests in progress are of one client.
 */
export class Questions {
	/** The request in whose response a message came. */
	readonly #current = new AsyncLocalStorage<Exchange>();
	readonly #exchanges = new Set<Exchange>();

	/**
	 * Answers a server's questions.
	 *
	 * @param capabilities the capabilities sent to the server: it gets answers only within them
	 * @returns undefined if it gets none
	 */
	static open(client: Client, capabilities: ClientCapabilities): Questions | undefined {
		const methods = METHODS.filter((each) => capabilities[CAPABILITY_FOR[each]] !== undefined);
		return methods.length === 0 ? undefined : new Questions(client, methods);
	}

	private constructor(client: Client, methods: typeof METHODS) {
		for (const method of methods) {
			client.setRequestHandler(method, async ({ params }, { mcpReq }) => {
				const question = { method, ...(params && { params }) };
				return (await this.#ask(question, mcpReq.signal)) as never;
			});
		}
	}

	/**
	 * Makes a request. The time-out restarts with progress, and pauses while the server waits for an answer.
	 *
	 * @param send sends it with the time-out in these options
	 */
	async request<Result>(
		inputClient: InputClient | undefined,
		options: RequestOptions & { readonly timeout: number },
		send: (options: RequestOptions) => Promise<Result>,
	): Promise<Result> {
		const { timeout, signal, onprogress } = options;
		const expired = new AbortController();
		let questions = 0;
		let timer: NodeJS.Timeout | undefined;
		const restart = (): void => {
			clearTimeout(timer);
			if (questions === 0) {
				const error = () => new SdkError(SdkErrorCode.RequestTimeout, "Request timed out", { timeout });
				timer = setTimeout(() => expired.abort(error()), timeout);
			}
		};
		const exchange: Exchange = {
			inputClient,
			countQuestions: (change) => {
				questions += change;
				restart();
			},
		};
		const onProgress: typeof onprogress = (progress) => {
			restart();
			onprogress?.(progress);
		};
		const final = {
			...options,
			timeout: MAX_REQUEST_TIME,
			signal: AbortSignal.any([expired.signal, ...(signal ? [signal] : [])]),
			...(onprogress && { onprogress: onProgress }),
		};
		restart();
		this.#exchanges.add(exchange);
		try {
			return await this.#current.run(exchange, () => send(final));
		} finally {
			this.#exchanges.delete(exchange);
			// Stops the timer, also for a question that is answered later.
			exchange.countQuestions(1);
		}
	}

	async #ask(question: Question, signal: AbortSignal): Promise<object> {
		const { inputClient, countQuestions } = this.#exchange(question);
		const capability = CAPABILITY_FOR[question.method];
		if (inputClient?.ask === undefined || !canAnswer(inputClient.capabilities, question)) {
			const text = `${question.method}: the client of this request does not support ${capability}`;
			throw new ProtocolError(ProtocolErrorCode.MethodNotFound, text);
		}
		countQuestions(1);
		try {
			return await inputClient.ask(question, signal);
		} finally {
			countQuestions(-1);
		}
	}

	/** @throws ProtocolError if it is not certain */
	#exchange({ method }: Question): Exchange {
		const [first, ...others] = this.#exchanges;
		const known = this.#current.getStore();
		if (known !== undefined && this.#exchanges.has(known)) {
			return known;
		}
		if (first === undefined) {
			throw new ProtocolError(ProtocolErrorCode.InternalError, `${method}: no request of a client is in progress`);
		}
		if (
			others.some(
				({ inputClient }) => inputClient?.client === undefined || inputClient.client !== first.inputClient?.client,
			)
		) {
			const text = `${method}: requests of several clients are in progress, and this does not say which is meant`;
			throw new ProtocolError(ProtocolErrorCode.InternalError, text);
		}
		return first;
	}
}

/** Before 2026-07-28, `elicitation: {}` means forms. */
function canAnswer(capabilities: ClientCapabilities, { method, params }: Question): boolean {
	const { [CAPABILITY_FOR[method]]: capability } = capabilities;
	if (capability === undefined || method !== "elicitation/create") {
		return capability !== undefined;
	}
	const { form, url } = capability as NonNullable<ClientCapabilities["elicitation"]>;
	return params?.mode === "url" ? url !== undefined : form !== undefined || url === undefined;
}
