import type { InputRequiredResult, InputResponses, ServerContext } from "@modelcontextprotocol/server";
import type { OwnToolCaller } from "../catalog/own-tools.js";
import { ANSWER_TIME, onProgress } from "./call-options.js";
import type { ClientServer } from "./client-server.js";

/** The key of the only question in a result. */
const APPROVAL = "approval";

/**
 * The client of one request that calls a tool of the gateway, and the question to the person before the call (2026-07-28).
 *
 * @param answered the question that the request answers (2026-07-28)
 */
export function requestCaller(
	client: ClientServer,
	{ mcpReq }: ServerContext,
	answered: string | undefined,
): OwnToolCaller & { readonly question: string | undefined } {
	const { signal, inputResponses = {} } = mcpReq;
	const { capabilities, name, session } = client.describe(mcpReq);
	const report = onProgress(mcpReq);
	const caller = {
		question: undefined as string | undefined,
		principal: client.catalog.access.principal,
		signal,
		clientName: name,
		progress: (progress: number, total: number, message: string) => report?.({ progress, total, message }),
		async ask(question: string): Promise<boolean> {
			if (capabilities.elicitation === undefined) {
				throw new Error("this client does not support elicitation");
			}
			if (session !== undefined) {
				const { action } = await mcpReq.elicitInput(formOf(question), { timeout: ANSWER_TIME, signal });
				return action === "accept";
			}
			if (answered !== question) {
				caller.question = question;
				throw new Error("the person has not been asked yet");
			}
			return ((inputResponses as InputResponses)[APPROVAL] as { action?: unknown } | undefined)?.action === "accept";
		},
		notify(text: string): void {
			// A client that has disconnected needs no news.
			client.sendLoggingMessage({ level: "info", logger: "mcp", data: text }).catch(() => {});
		},
		onClosed(end: () => void): void {
			if (session === undefined) {
				throw new Error("this client has no session");
			}
			client.onClosed(end);
		},
	};
	return caller;
}

/** A result that asks the person (2026-07-28). The question is its state, so that the answer is for no other. */
export function inputRequiredFor(question: string): InputRequiredResult {
	return {
		resultType: "input_required",
		inputRequests: { [APPROVAL]: { method: "elicitation/create", params: formOf(question) } },
		requestState: question,
	};
}

/** A question to which the answer is yes or no. */
function formOf(message: string) {
	return { mode: "form" as const, message, requestedSchema: { type: "object" as const, properties: {} } };
}
