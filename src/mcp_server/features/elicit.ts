import { isObject } from "../../core/text/json.js";
import type { Params } from "../json-rpc.js";
import { type InferProperties, object, type Properties } from "../schema.js";
import type { ToolCall } from "../tool-call.js";
import { memberNames, prepareMembers, validateMembers } from "../validate.js";
import { ask } from "./ask.js";

/** A form for the user: a message and its fields. */
export interface Form<Fields extends Properties> {
	readonly message: string;
	/** Strings, numbers, booleans and choices, not objects. */
	readonly fields: Fields;
	/** A JSON Schema to send instead of the one made of `fields`. The answer is read and checked by `fields`. */
	readonly requestedSchema?: { readonly type: "object"; readonly [keyword: string]: unknown };
	/** Identifies this question among those of the call. Default: by the order of asking. */
	readonly key?: string;
}

/** A page for the user to visit, such as one for a payment or a login. */
export interface Visit {
	readonly message: string;
	readonly url: string;
	readonly key?: string;
}

/** The user's answer: the form filled in, declined, or closed. */
export type FormAnswer<Fields extends Properties> =
	| { readonly action: "accept"; readonly content: InferProperties<Fields> }
	| { readonly action: "decline" | "cancel" };

/** Whether the user agreed to visit the page; not whether they completed it. */
export interface VisitAnswer {
	readonly action: "accept" | "decline" | "cancel";
}

/**
 * Asks the client's user: https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation
 *
 * @throws RpcError, Error if the client cannot be asked
 * @throws CallCancelled if the call is cancelled first
 * @example
 * const answer = await elicit(call, { message: "Open the gate?", fields: { minutes: integer({ minimum: 1 }) } });
 * if (answer.action === "accept") gate.open(answer.content.minutes);
 */
export function elicit<const Fields extends Properties>(
	call: ToolCall,
	form: Form<Fields>,
): Promise<FormAnswer<Fields>>;
export function elicit(call: ToolCall, visit: Visit): Promise<VisitAnswer>;
// biome-ignore lint/plugin: an arrow function has no overloads
export async function elicit(call: ToolCall, question: Form<Properties> | Visit): Promise<FormAnswer<Properties>> {
	const { message, key } = question;
	const asked = { key, method: "elicitation/create", capability: "elicitation" } as const;
	if ("url" in question) {
		const { url } = question;
		// Since 2026-07-28 no later message refers to the question.
		const id = call.session.revision < "2026-07-28" && { elicitationId: `e${Math.random()}` };
		const read = (answer: Params): VisitAnswer => ({ action: readAction(answer) });
		const params = { mode: "url", message, url, ...id };
		return (await ask(call, { ...asked, mode: "url", params, names: ["action"], read })) as FormAnswer<Properties>;
	}
	const schema = object(question.fields);
	const members = prepareMembers(schema);
	return await ask(call, {
		...asked,
		mode: "form",
		params: { message, requestedSchema: question.requestedSchema ?? schema },
		names: ["action", "content", ...memberNames({ members })],
		read(answer): FormAnswer<Properties> {
			const action = readAction(answer);
			if (action !== "accept") {
				return { action };
			}
			const given = isObject(answer.content) ? answer.content : {};
			return { action, content: validateMembers(members, given) as InferProperties<Properties> };
		},
	});
}

const readAction = ({ action }: Params): "accept" | "decline" | "cancel" => {
	if (action === "accept" || action === "decline" || action === "cancel") {
		return action;
	}
	throw new TypeError("action: expected accept, decline or cancel");
};
