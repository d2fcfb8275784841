import type { CallToolResult, InputRequiredResult, Tool } from "@modelcontextprotocol/server";
import {
	canAnswer,
	describeIssues,
	failedResult,
	inputSchemaOf,
	type OrInput,
	type Question,
} from "xs-mcp-manager/core";
import type * as z from "zod";
import type { OwnTool, OwnToolCaller } from "../catalog/catalog.js";
import type { ClientRequest } from "./client-request.js";
import { failedCall } from "./failures.js";

/**
 * A tool of the gateway whose arguments are checked before it is called.
 *
 * @param run rejects with RangeError if an argument cannot be used, with another Error if the call has failed
 */
export function ownTool<Input extends z.ZodObject>(
	listed: Omit<Tool, "inputSchema">,
	input: Input,
	run: (args: z.output<Input>, caller: OwnToolCaller) => Promise<CallToolResult>,
): OwnTool {
	const { name } = listed;
	return {
		listed: { ...listed, inputSchema: inputSchemaOf(input) },
		async call(args, caller) {
			const { data, error: invalid } = input.safeParse(args);
			if (invalid !== undefined) {
				return failedCall("invalid-arguments", `${name}: ${describeIssues(invalid.issues, "arguments")}`);
			}
			try {
				return await run(data, caller);
			} catch (error) {
				const text = `${name}: ${(error as Error).message}`;
				return error instanceof RangeError ? failedCall("invalid-arguments", text) : failedResult(text);
			}
		},
	};
}

/** The key of the only question in a result. */
const APPROVAL = "approval";

/** Calls a tool of the gateway. If the person must be asked first, since 2026-07-28 the result says so and the client repeats its call. */
export async function callOwnTool(
	own: OwnTool,
	args: object,
	request: ClientRequest,
): Promise<OrInput<CallToolResult>> {
	const { asking } = request.client.gateway;
	const of = { server: "", target: own.listed.name };
	const answered = await asking.open(request, of);
	const call = new OwnToolCall(request, answered?.state);
	const result = await own.call(args, call);
	return call.question === undefined ? result : await asking.sign(request, inputRequiredFor(call.question), of);
}

/** The client of one request that calls a tool of the gateway. */
class OwnToolCall implements OwnToolCaller {
	/** The question to the person before the call (2026-07-28). */
	question: string | undefined;
	readonly #request: ClientRequest;
	/** The question that the request answers (2026-07-28). */
	readonly #answered: string | undefined;

	constructor(request: ClientRequest, answered: string | undefined) {
		this.#request = request;
		this.#answered = answered;
	}

	get principal(): string {
		return this.#request.principal;
	}

	get signal(): AbortSignal {
		return this.#request.signal;
	}

	get clientName(): string | undefined {
		return this.#request.clientName;
	}

	progress(progress: number, total: number, message: string): void {
		this.#request.onProgress?.({ progress, total, message });
	}

	async ask(question: string): Promise<boolean> {
		const { capabilities, session, signal, inputResponses } = this.#request;
		const asked = questionFor(question);
		if (!canAnswer(capabilities, asked)) {
			throw new Error("this client does not support elicitation");
		}
		if (session === undefined && this.#answered !== question) {
			this.question = question;
			throw new Error("the person has not been asked yet");
		}
		const answer = session === undefined ? inputResponses?.[APPROVAL] : await this.#request.ask(asked, signal);
		return (answer as { readonly action?: unknown } | undefined)?.action === "accept";
	}

	notify(text: string): void {
		this.#request.client.log("info", "mcp", text);
	}

	onClosed(end: () => void): void {
		if (this.#request.session === undefined) {
			throw new Error("this client has no session");
		}
		this.#request.client.onClosed(end);
	}
}

/** A result that asks the person (2026-07-28). The question is its state, so that the answer is for no other. */
function inputRequiredFor(question: string): InputRequiredResult {
	const inputRequests = { [APPROVAL]: questionFor(question) };
	return { resultType: "input_required", inputRequests, requestState: question } as InputRequiredResult;
}

/** A question to which the answer is yes or no. */
function questionFor(message: string): Question {
	const params = { mode: "form", message, requestedSchema: { type: "object", properties: {} } };
	return { method: "elicitation/create", params };
}
