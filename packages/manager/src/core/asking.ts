import {
	CLIENT_CAPABILITIES_META_KEY,
	type ClientCapabilities,
	type InputRequiredResult,
	LOG_LEVEL_META_KEY,
	PROTOCOL_VERSION_META_KEY,
} from "@modelcontextprotocol/client";
import type { RequestContext } from "./connection.js";

/** The revision with stateless requests, in which a server asks its client by the result "input required". */
export const REVISION_OF_STATELESS = "2026-07-28";

/** A server's request to a client in its session (up to 2025-11-25). */
export interface Question {
	readonly method: keyof typeof QUESTIONS;
	readonly params?: Readonly<Record<string, unknown>>;
}

/** The questions that MCP has, with the name of the capability that a client needs. */
export const QUESTIONS = {
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
export function askingParams(context: RequestContext, withExtensions = true): Record<string, unknown> {
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
