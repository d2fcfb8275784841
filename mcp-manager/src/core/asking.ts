import {
	CLIENT_CAPABILITIES_META_KEY,
	type ClientCapabilities,
	type InputRequiredResult,
	type InputResponses,
	LOG_LEVEL_META_KEY,
	type LoggingLevel,
	PROTOCOL_VERSION_META_KEY,
} from "@modelcontextprotocol/client";

/** The revision with stateless requests, in which a server asks its client by the result "input required". */
export const REVISION_OF_STATELESS = "2026-07-28";

/** A server's request to a client in its session (up to 2025-11-25). */
export interface Question {
	readonly method: "elicitation/create" | "sampling/createMessage" | "roots/list";
	readonly params?: Readonly<Record<string, unknown>>;
}

/** The client that a server may ask during a request. */
export interface InputClient {
	/** The client's capabilities, which limit the questions. */
	readonly capabilities: ClientCapabilities;
	/** The client's answers to the questions of the previous request, by their keys. */
	readonly inputResponses?: InputResponses | undefined;
	/** Opaque state for the server, sent back with the answers. */
	readonly requestState?: string | undefined;
	/** The same for all requests of one session. Default: each request is another client's. */
	readonly client?: object | undefined;
	/** Asks the client during the request. Rejects with its error. Default: it can be asked only by the result. */
	readonly ask?: ((question: Question, signal: AbortSignal) => Promise<object>) | undefined;
}

/** The requesting client, and its log level. */
interface AskingOptions {
	readonly inputClient?: InputClient | undefined;
	readonly logLevel?: LoggingLevel | undefined;
}

/** A result, or the server's request for input. */
export type OrInput<Result> = Result | InputRequiredResult;

/** Extensions without their own methods, which pass the gateway unchanged: MCP Apps. */
const RELAYED_EXTENSIONS: readonly string[] = ["io.modelcontextprotocol/ui"];

type Extensions = NonNullable<ClientCapabilities["extensions"]>;

/** The extensions that work through a gateway, as a capability; empty without any. */
export function relayedExtensions(extensions: Extensions = {}): { readonly extensions?: Extensions } {
	const relayed = Object.entries(extensions).filter(([name]) => RELAYED_EXTENSIONS.includes(name));
	return relayed.length === 0 ? {} : { extensions: Object.fromEntries(relayed) };
}

/**
 * The members of a stateless request that describe the client.
 *
 * @param withExtensions whether to name extensions: devices have none, and their messages are short
 */
export function askingParams({ inputClient, logLevel }: AskingOptions, withExtensions = true): Record<string, unknown> {
	const { elicitation, sampling, roots, extensions } = inputClient?.capabilities ?? {};
	const { inputResponses, requestState } = inputClient ?? {};
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
