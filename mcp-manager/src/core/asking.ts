import {
	CLIENT_CAPABILITIES_META_KEY,
	type ClientCapabilities,
	type InputRequiredResult,
	type InputResponses,
	LOG_LEVEL_META_KEY,
	type LoggingLevel,
	PROTOCOL_VERSION_META_KEY,
} from "@modelcontextprotocol/client";

/** The revision in which every request stands for itself, and a server asks by answering that it needs input. */
export const REVISION_OF_STATELESS = "2026-07-28";

/** Whom a server may ask while it serves a request: the client that made it. */
export interface Asker {
	/** What the client declares: only that may be asked. */
	readonly capabilities: ClientCapabilities;
	/** What the client answered to the questions of the request before, by their keys. */
	readonly inputResponses?: InputResponses | undefined;
	/** What the server wants back with the answers. */
	readonly requestState?: string | undefined;
}

/** Who asks in a request, and what it wants logged. */
interface AskingOptions {
	readonly asker?: Asker | undefined;
	readonly logLevel?: LoggingLevel | undefined;
}

/** A result, or what the server needs to know before there is one. */
export type OrInput<Result> = Result | InputRequiredResult;

/** The members of a stateless request that say who asks. What a device does not need is left out: its messages are short. */
export function askingParams({ asker, logLevel }: AskingOptions): Record<string, unknown> {
	const { elicitation, sampling, roots } = asker?.capabilities ?? {};
	const { inputResponses, requestState } = asker ?? {};
	return {
		...(inputResponses && { inputResponses }),
		...(requestState !== undefined && { requestState }),
		_meta: {
			[PROTOCOL_VERSION_META_KEY]: REVISION_OF_STATELESS,
			[CLIENT_CAPABILITIES_META_KEY]: {
				...(elicitation && { elicitation }),
				...(sampling && { sampling }),
				...(roots && { roots }),
			},
			...(logLevel !== undefined && { [LOG_LEVEL_META_KEY]: logLevel }),
		},
	};
}
