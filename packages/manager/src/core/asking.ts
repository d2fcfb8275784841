import { AsyncLocalStorage } from "node:async_hooks";
import {
	CLIENT_CAPABILITIES_META_KEY,
	type Client,
	type ClientCapabilities,
	type InputRequiredResult,
	LOG_LEVEL_META_KEY,
	PROTOCOL_VERSION_META_KEY,
	ProtocolError,
	ProtocolErrorCode,
} from "@modelcontextprotocol/client";
import type { PendingRequest, RequestContext } from "./connection.js";
import { CLIENT_METHODS } from "./results.js";

/** The revision with stateless requests. A server asks its client through the result "input required". */
export const REVISION_OF_STATELESS = "2026-07-28";

/** A server's request to a client in its session (up to 2025-11-25). */
export interface Question {
	readonly method: keyof typeof QUESTIONS;
	readonly params?: Readonly<Record<string, unknown>>;
}

/** The questions that MCP has, with the name of the capability that a client needs. */
const QUESTIONS = {
	"elicitation/create": "elicitation",
	"sampling/createMessage": "sampling",
	"roots/list": "roots",
} as const;

/** The capability that a client needs for a question; undefined if MCP has no such question. */
export function capabilityFor({ method, params }: Question): ClientCapabilities | undefined {
	switch (method) {
		case "elicitation/create":
			return { elicitation: params?.mode === "url" ? { url: {} } : { form: {} } };
		case "sampling/createMessage":
			return { sampling: params?.tools === undefined && params?.toolChoice === undefined ? {} : { tools: {} } };
		case "roots/list":
			return { roots: {} };
		default:
			return undefined;
	}
}

/** Whether a client has declared the capability for a question. Before 2026-07-28, `elicitation: {}` means forms. */
export function canAnswer(capabilities: ClientCapabilities, question: Question): boolean {
	const name = QUESTIONS[question.method];
	const needed = capabilityFor(question)?.[name] ?? {};
	const declared = capabilities[name];
	const isBareForm = name === "elicitation" && declared !== undefined && !("url" in declared) && "form" in needed;
	return declared !== undefined && (isBareForm || Object.keys(needed).every((member) => member in declared));
}

/** A result, or the server's request for input. */
export type OrInput<Result> = Result | InputRequiredResult;

/** MCP Apps. The gateway relays this extension unchanged: it adds no methods. */
const APPS = "io.modelcontextprotocol/ui";

type Extensions = NonNullable<ClientCapabilities["extensions"]>;

/** The extensions that work through a gateway, as a capability; empty without any. */
export function relayedExtensions({ [APPS]: apps }: Extensions = {}): { readonly extensions?: Extensions } {
	return apps === undefined ? {} : { extensions: { [APPS]: apps } };
}

/**
 * The members of a stateless request that describe the client.
 *
 * @param withExtensions whether to include extensions: devices support none, and their messages must be short
 */
export function askingParams(context: RequestContext, withExtensions = false): Record<string, unknown> {
	const { capabilities, inputResponses, requestState, logLevel } = context;
	const { elicitation, sampling, roots, extensions } = capabilities ?? {};
	return {
		...(inputResponses && { inputResponses }),
		...(requestState !== undefined && { requestState }),
		_meta: {
			[PROTOCOL_VERSION_META_KEY]: REVISION_OF_STATELESS,
			[CLIENT_CAPABILITIES_META_KEY]: {
				...(elicitation && { elicitation }),
				...(sampling && { sampling }),
				...(roots && { roots }),
				...(withExtensions && relayedExtensions(extensions)),
			},
			...(logLevel !== undefined && { [LOG_LEVEL_META_KEY]: logLevel }),
		},
	};
}

/**
 * A server's questions in its session (up to 2025-11-25), for the client of the current request. Over Streamable HTTP
 * the question comes in the response to the request. Over other transports it names no request, so it is answered only
 * if all requests in progress belong to one client.
 */
export class Questions {
	/** The request whose response is being read. */
	readonly #current = new AsyncLocalStorage<PendingRequest>();
	readonly #pending: ReadonlyMap<unknown, PendingRequest>;

	/** @param capabilities those sent to the server: questions beyond them are not answered */
	constructor(
		client: Pick<Client, "setRequestHandler">,
		capabilities: ClientCapabilities,
		pending: ReadonlyMap<unknown, PendingRequest>,
	) {
		this.#pending = pending;
		const methods = Object.keys(QUESTIONS) as Question["method"][];
		for (const method of methods.filter((each) => capabilities[QUESTIONS[each]] !== undefined)) {
			client.setRequestHandler(method, async ({ params }, { mcpReq }) => {
				const question = { method, ...(params && { params }) };
				return (await this.#ask(question, mcpReq.signal)) as never;
			});
		}
	}

	/** Sends a request. Questions in its response are for the client of this request. */
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

	/** @throws ProtocolError if the question's request cannot be determined */
	#requestOf({ method }: Question): PendingRequest {
		const known = this.#current.getStore();
		if (known !== undefined && this.#pending.has(known.id)) {
			return known;
		}
		const [first, ...others] = [...this.#pending.values()].filter(({ request }) => CLIENT_METHODS.has(request.method));
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
