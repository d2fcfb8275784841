import {
	type ClientCapabilities,
	type ElicitRequestFormParams,
	type InputResponses,
	isInputRequiredResult,
	ProtocolError,
	ProtocolErrorCode,
} from "@modelcontextprotocol/client";
import type { OrInput, Question } from "../core/asking.js";
import type { RequestContext } from "../core/connection.js";
import { type Elicit, type ElicitRequest, McpError } from "./mcp-types.js";

/** The capabilities of a manager whose program answers questions. */
export const ELICITATION = { elicitation: { form: {} } } satisfies ClientCapabilities;

/** How often a server may ask during one call. */
const MAX_ROUNDS = 10;

type Call = Pick<ElicitRequest, "server" | "tool" | "signal">;

/**
 * Makes a call whose server may ask the person: in its session, or by the result (2026-07-28), after which the call is made again
 * with the answers.
 *
 * @param elicit default: a server that asks gets an error
 * @param call gets who can be asked, and the answers
 */
export async function withQuestions<Result extends object>(
	elicit: Elicit | undefined,
	{ server, tool, signal }: Call,
	call: (asking: RequestContext) => Promise<OrInput<Result>>,
): Promise<Result> {
	const ask = async ({ method, params }: Question, ended: AbortSignal | undefined): Promise<object> => {
		if (elicit === undefined || method !== "elicitation/create" || params?.mode === "url") {
			throw new ProtocolError(ProtocolErrorCode.MethodNotFound, `${method}: not supported here`);
		}
		const { message, requestedSchema } = params as unknown as ElicitRequestFormParams;
		return { ...(await elicit({ server, tool, message, requestedSchema, signal: ended })) };
	};
	// All calls of the program are of one person: a question that names no call can be answered.
	const asking: RequestContext = elicit === undefined ? {} : { capabilities: ELICITATION, session: elicit, ask };
	let answers: RequestContext = {};
	for (let round = 0; round <= MAX_ROUNDS; round += 1) {
		const result = await call({ ...asking, ...answers });
		if (elicit === undefined || !isInputRequiredResult(result)) {
			return expectComplete(result);
		}
		const inputResponses: Record<string, object> = {};
		for (const [key, question] of Object.entries(result.inputRequests ?? {})) {
			inputResponses[key] = await ask(question as Question, signal);
		}
		const { requestState } = result;
		answers = { inputResponses: inputResponses as InputResponses, ...(requestState !== undefined && { requestState }) };
	}
	throw new McpError("EXECUTION_FAILED", `the server asks more than ${MAX_ROUNDS} times during a call`);
}

/** Rejects a request for input, which cannot be answered here. */
export function expectComplete<T extends object>(result: OrInput<T>): T {
	if (isInputRequiredResult(result)) {
		throw new McpError("EXECUTION_FAILED", "the server requires input, which is not supported here", {
			details: result,
		});
	}
	return result as T;
}
