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
import { failedCall } from "./contents.js";

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
	/** The question to the person before the call (2026-07-28). */
	let unasked: string | undefined;
	const { client, principal, signal, clientName, capabilities, session } = request;
	const result = await own.call(args, {
		principal,
		signal,
		clientName,
		progress: (progress, total, message) => request.onProgress?.({ progress, total, message }),
		async ask(question) {
			const asked = questionFor(question);
			if (!canAnswer(capabilities, asked)) {
				throw new Error("this client does not support elicitation");
			}
			if (session === undefined && answered?.state !== question) {
				unasked = question;
				throw new Error("the person has not been asked yet");
			}
			const answer =
				session === undefined ? request.inputResponses?.[APPROVAL] : await request.ask(asked, request.signal);
			return (answer as { readonly action?: unknown } | undefined)?.action === "accept";
		},
		notify: (text) => client.log("info", "mcp", text),
		onClosed(end) {
			if (session === undefined) {
				throw new Error("this client has no session");
			}
			client.onClosed(end);
		},
	});
	if (unasked === undefined) {
		return result;
	}
	// The question is the state, so that the answer is for no other.
	const inputRequests = { [APPROVAL]: questionFor(unasked) };
	const asked = { resultType: "input_required", inputRequests, requestState: unasked } as InputRequiredResult;
	return await asking.sign(request, asked, of);
}

/** A question to which the answer is yes or no. */
function questionFor(message: string): Question {
	const params = { mode: "form", message, requestedSchema: { type: "object", properties: {} } };
	return { method: "elicitation/create", params };
}
