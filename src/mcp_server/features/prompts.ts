import { Content, text } from "../content.js";
import { invalidParams, type Params, quotable, type Revision, readArguments } from "../json-rpc.js";
import type { McpServer } from "../mcp-server.js";
import { type Listed, listed } from "../paged-list.js";
import type { ToolCall } from "../tool-call.js";
import type { Completable, Completer, Completers } from "./completion.js";
import { type Feature, type FeatureResult, readText } from "./feature-server.js";
import { ListFeature } from "./list-feature.js";

/** A constant, because XS copies a literal in a function at each use. */
const PROMPT = "prompt";

/** An argument of a prompt. Its value is always text. */
export interface PromptArgument {
	readonly title?: string;
	readonly description?: string;
	/** Whether it is required. Default false. */
	readonly required?: boolean;
	/** Suggested values: see the feature `Completion`. */
	readonly complete?: Completer;
}

/** The arguments of a prompt, by name. */
export type PromptArguments = Readonly<Record<string, PromptArgument>>;

/** The values of a prompt's arguments. The required ones are present. */
export type InferArguments<A extends PromptArguments> = {
	readonly [K in keyof A]: A[K] extends { readonly required: true } ? string : string | undefined;
};

/** A message of a prompt, made by {@link user} or {@link assistant}. */
export interface PromptMessage {
	readonly role: "user" | "assistant";
	readonly content: Content;
}

/** The result of a prompt: text or content in the user's role, or messages. */
export type PromptResult = string | Content | readonly PromptMessage[];

/** A prompt as its author writes it. */
export interface PromptDefinition<Context, Arguments extends PromptArguments> {
	readonly name: string;
	readonly title?: string;
	/** Text for the user who chooses a prompt. */
	readonly description?: string;
	/** Arguments in the order of the form. Default: none. */
	readonly arguments?: Arguments;
	/** Makes the messages, possibly asynchronously. An exception reaches the client as a JSON-RPC error. */
	get(args: InferArguments<Arguments>, context: Context, call: ToolCall): PromptResult | Promise<PromptResult>;
}

/** A prompt as the server stores it: plain data. Its key is its name. */
export interface Prompt<Context> extends Listed {
	readonly description: string | undefined;
	readonly argumentNames: readonly string[];
	readonly requiredNames: readonly string[];
	readonly complete: Completers;
	/** Makes the messages. The arguments have been checked. */
	get(args: unknown, context: Context, call: ToolCall): PromptResult | Promise<PromptResult>;
}

/** Makes a prompt from its definition. */
export const createPrompt = <Context, const Arguments extends PromptArguments>(
	definition: PromptDefinition<Context, Arguments>,
): Prompt<Context> => {
	const { name, title, description, get } = definition;
	const args = Object.entries<PromptArgument>(definition.arguments ?? {});
	const entries = args.map(([name, { title, description, required }]) => ({ name, title, description, required }));
	const completers = args.filter(([, { complete }]) => complete !== undefined);
	return {
		...listed(name, { name, title, description, ...(entries.length > 0 && { arguments: entries }) }),
		description,
		argumentNames: args.map(([name]) => name),
		requiredNames: args.filter(([, { required }]) => required).map(([name]) => name),
		complete: Object.fromEntries(completers.map(([name, { complete }]) => [name, complete as Completer])),
		get: get as Prompt<Context>["get"],
	};
};

/** A message in the user's role. */
export const user = (content: string | Content): PromptMessage => ({ role: "user", content: toContent(content) });

/** A message in the assistant's role. */
export const assistant = (content: string | Content): PromptMessage => ({
	role: "assistant",
	content: toContent(content),
});

const toContent = (content: string | Content): Content => (typeof content === "string" ? text(content) : content);

/** The `result` of `prompts/get`, as JSON. */
const promptResult = (description: string | undefined, result: PromptResult, revision: Revision): string => {
	const messages = typeof result === "string" || result instanceof Content ? [user(result)] : result;
	const items = messages.map(({ role, content }) => `{"role":"${role}","content":${content.toJsonFor(revision)}}`);
	const start = description === undefined ? "" : `"description":${JSON.stringify(description)},`;
	return `{${start}"messages":[${items.join(",")}]}`;
};

/** Prompts: messages that a user can choose for the language model (MCP 2025-11-25, server/prompts). */
export class Prompts<Context> extends ListFeature<Context, Prompt<Context>> implements Feature<Context>, Completable {
	readonly capabilities = { prompts: { listChanged: true } };

	/** @throws TypeError for two prompts of the same name */
	constructor(prompts: readonly Prompt<Context>[] = []) {
		super(PROMPT, prompts);
	}

	get names(): readonly string[] {
		return this.argumentNames;
	}

	get argumentNames(): readonly string[] {
		return this.items.flatMap(({ argumentNames }) => argumentNames);
	}

	answer(method: string, params: Params, call: ToolCall): FeatureResult | undefined {
		switch (method) {
			case "prompts/list":
				return this.page("prompts", this.items, params, call);
			case "prompts/get":
				return this.get(params, call);
			default:
				return undefined;
		}
	}

	private get(params: Params, call: ToolCall): FeatureResult {
		const name = readText(params, "name", "the name of a prompt");
		const prompt = this.find(name);
		if (prompt === undefined) {
			throw invalidParams(`Unknown prompt: ${quotable(name)}`);
		}
		const { revision } = call.session;
		const args = checkArguments(prompt, readArguments(params));
		const result = prompt.get(args, (this.server as McpServer<Context>).context, call);
		const toResult = (value: PromptResult): string => promptResult(prompt.description, value, revision);
		return result instanceof Promise ? result.then(toResult) : toResult(result);
	}
}

/** @throws RpcError invalid params, if an argument is missing or not a string */
const checkArguments = (prompt: Prompt<unknown>, args: Params): Params => {
	const result: Record<string, string> = Object.create(null);
	for (const name of prompt.argumentNames) {
		const value = args[name] ?? undefined;
		if (typeof value === "string") {
			result[name] = value;
		} else if (value !== undefined || prompt.requiredNames.includes(name)) {
			const problem = value === undefined ? "missing, expected a string" : "expected a string";
			throw invalidParams(`${name}: ${problem}`);
		}
	}
	return result;
};
