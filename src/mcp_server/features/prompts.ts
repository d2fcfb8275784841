import { ErrorCode, quotable, RpcError, resultOverhead } from "../json-rpc.js";
import type { McpServer } from "../mcp-server.js";
import { PagedList } from "../paged-list.js";
import { type Params, readArguments, readCursor } from "../params.js";
import type { ToolCall } from "../tool-call.js";
import type { Completable, Completers } from "./completion.js";
import type { FeatureResult } from "./feature-session.js";
import { type Prompt, type PromptResult, promptResult } from "./prompt.js";
import { readText } from "./read-param.js";
import type { Feature } from "./server-feature.js";

/**
 * Prompts: messages that a user can choose for the language model.
 * https://modelcontextprotocol.io/specification/2025-11-25/server/prompts
 */
export class Prompts<Context> implements Feature<Context>, Completable {
	readonly capabilities = { prompts: { listChanged: true } };
	private readonly prompts: Prompt<Context>[] = [];
	private server: McpServer<Context> | undefined;

	/** @throws TypeError for two prompts of the same name */
	constructor(prompts: readonly Prompt<Context>[] = []) {
		for (const prompt of prompts) {
			this.add(prompt);
		}
	}

	get names(): readonly string[] {
		return this.argumentNames;
	}

	get argumentNames(): readonly string[] {
		return this.prompts.flatMap(({ argumentNames }) => argumentNames);
	}

	attach(server: McpServer<Context>): void {
		this.server = server;
	}

	/** @throws TypeError if the name is already registered */
	add(prompt: Prompt<Context>): void {
		if (this.find(prompt.key) !== undefined) {
			throw new TypeError(`prompt ${prompt.key} is already registered`);
		}
		this.prompts.push(prompt);
		this.server?.changed("notifications/prompts/list_changed");
	}

	/** @returns whether the prompt existed */
	remove(name: string): boolean {
		const at = this.prompts.findIndex(({ key }) => key === name);
		if (at < 0) {
			return false;
		}
		this.prompts.splice(at, 1);
		this.server?.changed("notifications/prompts/list_changed");
		return true;
	}

	completersOf(name: string): Completers | undefined {
		return this.find(name)?.complete;
	}

	answer(method: string, params: Params, call: ToolCall): FeatureResult | undefined {
		switch (method) {
			case "prompts/list":
				return new PagedList("prompts", this.prompts).page(
					readCursor(params),
					call.session.pageBytes - resultOverhead(call.id),
				);
			case "prompts/get":
				return this.get(params, call);
			default:
				return undefined;
		}
	}

	private find(name: string): Prompt<Context> | undefined {
		return this.prompts.find(({ key }) => key === name);
	}

	private get(params: Params, call: ToolCall): FeatureResult {
		const name = readText(params, "name", "the name of a prompt");
		const prompt = this.find(name);
		if (prompt === undefined) {
			throw new RpcError(ErrorCode.invalidParams, `Unknown prompt: ${quotable(name)}`);
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
			throw new RpcError(ErrorCode.invalidParams, `${name}: ${problem}`);
		}
	}
	return result;
};
