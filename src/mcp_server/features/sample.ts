import { isObject } from "../../core/text/json.js";
import type { Content } from "../content.js";
import type { Params } from "../json-rpc.js";
import type { ToolCall } from "../tool-call.js";
import { ask } from "./ask.js";

/** A message that the model is to answer. */
export interface SamplingMessage {
	readonly role: "user" | "assistant";
	readonly content: Content | string;
}

/** The question to the client's model. */
export interface Sampling {
	/** Text in the user's role, or the messages so far. */
	readonly messages: string | readonly SamplingMessage[];
	/** Limit of the answer, in tokens. */
	readonly maxTokens: number;
	readonly systemPrompt?: string;
	/** At least 0. */
	readonly temperature?: number;
	readonly stopSequences?: readonly string[];
	/** Identifies this question among those of the call. Default: by the order of asking. */
	readonly key?: string;
}

/** Answer of the model. */
export interface SamplingAnswer {
	/** Its texts, joined; "" if it answered with something else, such as a picture. */
	readonly text: string;
	/** The content as received: since 2025-11-25 possibly a list. */
	readonly content: Params | readonly Params[];
	readonly model: string;
	readonly stopReason?: string;
}

const NAMES: readonly string[] = Object.freeze("role content type text data mimeType model stopReason".split(" "));

/**
 * Asks the client's language model: https://modelcontextprotocol.io/specification/2025-11-25/client/sampling
 *
 * @throws RpcError, Error if the client cannot be asked
 * @throws CallCancelled if the call is cancelled first
 * @example
 * const { text } = await sample(call, { messages: "Greet Ann in five words.", maxTokens: 30 });
 */
export const sample = async (call: ToolCall, { key, messages, ...options }: Sampling): Promise<SamplingAnswer> => {
	const { revision } = call.session;
	const given: readonly SamplingMessage[] =
		typeof messages === "string" ? [{ role: "user", content: messages }] : messages;
	const sent = given.map(({ role, content }) => ({
		role,
		content: typeof content === "string" ? { type: "text", text: content } : JSON.parse(content.toJsonFor(revision)),
	}));
	return await ask(call, {
		key,
		method: "sampling/createMessage",
		params: { messages: sent, ...options },
		capability: "sampling",
		mode: undefined,
		names: NAMES,
		read,
	});
};

const read = ({ content, model, stopReason }: Params): SamplingAnswer => {
	const blocks: readonly unknown[] = Array.isArray(content) ? content : [content];
	if (!blocks.every(isObject)) {
		throw new TypeError("content: expected an object");
	}
	return {
		text: blocks.map(({ text }) => (typeof text === "string" ? text : "")).join(""),
		content: content as SamplingAnswer["content"],
		model: typeof model === "string" ? model : "",
		...(typeof stopReason === "string" && { stopReason }),
	};
};
