import type { InputRequiredResult, InputResponses, ServerContext } from "@modelcontextprotocol/server";
import { type CallOptions, REVISION_OF_STATELESS } from "xs-mcp-manager/core";
import type { OwnToolCaller } from "../catalog/own-tools.js";
import { ANSWER_TIME, envelopeOf, onProgress } from "./call-options.js";
import type { ServedClient } from "./served-client.js";

/** The key of the only question in a result. */
const APPROVAL = "approval";

interface RequestCallerOptions extends Pick<OwnToolCaller, "principal" | "onClosed"> {
	/** The question that the client's request answers (2026-07-28). */
	readonly answered: string | undefined;
}

/** The client of one request that calls a tool of the gateway. */
export class RequestCaller implements OwnToolCaller {
	/** The question to the person before the call, asked by the result (2026-07-28). */
	question: string | undefined;
	readonly #client: ServedClient;
	readonly #mcpReq: ServerContext["mcpReq"];
	readonly #options: RequestCallerOptions;
	readonly #onProgress: CallOptions["onProgress"];

	constructor(client: ServedClient, { mcpReq }: ServerContext, options: RequestCallerOptions) {
		this.#client = client;
		this.#mcpReq = mcpReq;
		this.#options = options;
		this.#onProgress = onProgress(mcpReq);
	}

	get principal(): string {
		return this.#options.principal;
	}

	get signal(): AbortSignal {
		return this.#mcpReq.signal;
	}

	get clientName(): string | undefined {
		return (envelopeOf(this.#mcpReq)?.client ?? this.#client.server.getClientVersion())?.name;
	}

	readonly progress = (progress: number, total: number, message: string): void =>
		this.#onProgress?.({ progress, total, message });

	readonly ask = async (question: string): Promise<boolean> => {
		const { inputResponses = {} } = this.#mcpReq;
		const isStateless = this.#client.revision >= REVISION_OF_STATELESS;
		const capabilities = isStateless
			? envelopeOf(this.#mcpReq)?.capabilities
			: this.#client.server.getClientCapabilities();
		if (capabilities?.elicitation === undefined) {
			throw new Error("this client does not support elicitation");
		}
		if (!isStateless) {
			const timing = { timeout: ANSWER_TIME, signal: this.signal };
			return (await this.#mcpReq.elicitInput(formOf(question), timing)).action === "accept";
		}
		if (this.#options.answered !== question) {
			this.question = question;
			throw new Error("the person has not been asked yet");
		}
		return ((inputResponses as InputResponses)[APPROVAL] as { action?: unknown } | undefined)?.action === "accept";
	};

	readonly notify = (text: string): void => {
		// A client that has disconnected needs no news.
		this.#client.server.sendLoggingMessage({ level: "info", logger: "mcp", data: text }).catch(() => {});
	};

	readonly onClosed = (end: () => void): void => {
		if (this.#client.revision >= REVISION_OF_STATELESS) {
			throw new Error("this client has no session");
		}
		this.#options.onClosed(end);
	};
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
