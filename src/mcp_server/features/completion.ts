import { isObject } from "../../core/text/json.js";
import { invalidParams, type Params, quotable } from "../json-rpc.js";
import { type Feature, type FeatureResult, readText } from "./feature-server.js";

/** Candidate texts, filtered by the user's input as a prefix; or a function that returns suggestions. */
export type Completer =
	| readonly string[]
	| ((typed: string, chosen: Readonly<Record<string, unknown>>) => readonly string[] | Promise<readonly string[]>);

/** Completers by the name of an argument or variable. */
export type Completers = Readonly<Record<string, Completer>>;

/** Something with arguments that can be completed: prompts or resource templates. */
export interface Completable {
	/** The names of all arguments, which clients send when they complete one. */
	readonly argumentNames: readonly string[];
	/** @returns undefined if the prompt or template does not exist */
	completersOf(key: string): Completers | undefined;
}

/** The reference whose values are suggested. */
export interface CompletionOptions {
	readonly prompts?: Completable;
	readonly resources?: Completable;
}

/** Values that an answer may have: https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/completion#completion-results */
const MAX_VALUES = 100;

const NAMES: readonly string[] = Object.freeze("ref type name uri argument value context arguments".split(" "));

const NO_ARGUMENTS: Params = Object.freeze({});

/** Completion of prompt arguments and template variables (MCP 2025-11-25, server/utilities/completion). */
export class Completion implements Feature<unknown> {
	readonly capabilities = { completions: {} };
	private readonly options: CompletionOptions;

	constructor(options: CompletionOptions) {
		this.options = options;
	}

	get names(): readonly string[] {
		const { prompts, resources } = this.options;
		return [...NAMES, ...(prompts?.argumentNames ?? []), ...(resources?.argumentNames ?? [])];
	}

	answer(method: string, params: Params): FeatureResult | undefined {
		if (method !== "completion/complete") {
			return undefined;
		}
		const completers = this.findCompleters(readObject(params, "ref"));
		const argument = readObject(params, "argument");
		const name = readText(argument, "name", "the name of an argument");
		const typed = readText(argument, "value", "what is typed so far");
		// Not a lookup by name: XS keeps each name that is looked up in an object.
		const completer = Object.entries(completers).find(([argument]) => argument === name)?.[1];
		const values =
			typeof completer === "function"
				? completer(typed, readChosen(params))
				: (completer ?? []).filter((text) => text.startsWith(typed));
		return values instanceof Promise ? values.then(toResult) : toResult(values);
	}

	private findCompleters(ref: Params): Completers {
		const { prompts, resources } = this.options;
		if (ref.type !== "ref/prompt" && ref.type !== "ref/resource") {
			throw invalidParams("ref.type: expected ref/prompt or ref/resource");
		}
		const isPrompt = ref.type === "ref/prompt";
		const key = isPrompt
			? readText(ref, "name", "the name of a prompt")
			: readText(ref, "uri", "the template of a resource");
		const completers = (isPrompt ? prompts : resources)?.completersOf(key);
		if (completers === undefined) {
			throw invalidParams(`Unknown ${isPrompt ? "prompt" : "resource template"}: ${quotable(key)}`);
		}
		return completers;
	}
}

const toResult = (found: readonly string[]): string => {
	const values = found.slice(0, MAX_VALUES);
	return JSON.stringify({ completion: { values, total: found.length, hasMore: found.length > values.length } });
};

const readObject = (params: Params, name: string): Params => {
	const value = params[name];
	if (!isObject(value)) {
		throw invalidParams(`${name}: expected an object`);
	}
	return value;
};

const readChosen = ({ context }: Params): Params => {
	const chosen = isObject(context) ? context.arguments : undefined;
	return isObject(chosen) ? chosen : NO_ARGUMENTS;
};
