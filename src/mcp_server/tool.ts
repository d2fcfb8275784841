import { deepFreeze } from "../core/text/deep-freeze.js";
import type { ToolResult } from "./content.js";
import { type Listed, listed } from "./paged-list.js";
import { type InferProperties, object, type Properties, type Schema } from "./schema.js";
import type { ToolCall } from "./tool-call.js";
import { type Member, prepare, prepareMembers, validate } from "./validate.js";

/** Hints for the client: https://modelcontextprotocol.io/specification/2025-11-25/schema#toolannotations */
export interface ToolAnnotations {
	readonly title?: string;
	readonly readOnlyHint?: boolean;
	readonly destructiveHint?: boolean;
	readonly idempotentHint?: boolean;
	readonly openWorldHint?: boolean;
}

/**
 * A tool as its author writes it.
 *
 * @typeParam Context object that the server passes to every tool: the board's hardware, on a device
 */
export interface ToolDefinition<Context, Input extends Properties, Output extends Properties> {
	/** 1 to 128 characters of `A-Z a-z 0-9 _ - .` (MCP 2025-11-25, server/tools#tool-names). */
	readonly name: string;
	readonly title?: string;
	/** Purpose of the tool and when to use it, for the language model. */
	readonly description: string;
	/** "user": listed only for a client that asks for user tools, and marked so. */
	readonly audience?: "user";
	readonly annotations?: ToolAnnotations;
	/**
	 * Marks a slow tool. A gateway turns its calls into tasks for clients that support them. Others wait, or
	 * their calls are rejected if it is "required": docs/gateway/tasks.md.
	 */
	readonly execution?: { readonly taskSupport: "optional" | "required" };
	/** The arguments. Default: none. */
	readonly input?: Input;
	/** An object's JSON Schema (2020-12), listed instead of the one of `input`, which still checks arguments. */
	readonly inputSchema?: { readonly type: "object"; readonly [keyword: string]: unknown };
	/** The members of a structured result. */
	readonly output?: Output;
	/**
	 * Checks arguments against the context, beyond their schema: the limits of a part. Called before `run`, and when a rule with
	 * this call is set.
	 *
	 * @throws Error that names the argument
	 */
	check?(args: InferProperties<Input>, context: Context): void;
	/** Whether its arguments may contain those of any tool, as in a call that it stores. Default: only its own. */
	readonly takesCalls?: true;
	/** Does the work, possibly asynchronously. An `RpcError` becomes a JSON-RPC error, any other a failed call. */
	run(
		args: InferProperties<Input>,
		context: Context,
		call: ToolCall,
	): NoInfer<Result<Output>> | Promise<NoInfer<Result<Output>>>;
}

type Result<Output extends Properties> = Properties extends Output ? ToolResult : InferProperties<Output>;

/** A tool as the server stores it: plain data, so that XS can keep it in flash. */
export interface Tool<Context> extends Listed {
	readonly name: string;
	/** Its list entry for clients of 2024-11-05: without title, output schema and hints. */
	readonly plain: Listed;
	readonly userOnly: boolean;
	readonly isDestructive?: true;
	/** Its arguments. */
	readonly members: readonly Member[];
	readonly takesCalls?: true;
	/** Checks arguments that match the schema. @throws Error that names the argument */
	check?(args: unknown, context: Context): void;
	/** Carries out a call with checked arguments. An exception becomes the error of the result. */
	run(args: unknown, context: Context, call: ToolCall): ToolResult | Promise<ToolResult>;
}

const namePattern = (): RegExp => /^[A-Za-z0-9_.-]{1,128}$/;

/**
 * Makes a tool from its definition.
 *
 * @throws TypeError if the name is not valid in MCP
 * @throws ValidationError if a default does not match its schema
 */
export const createTool = <Context, const Input extends Properties, const Output extends Properties>(
	definition: ToolDefinition<Context, Input, Output>,
): Tool<Context> => {
	const { name, title, description, audience, annotations, execution, output, check, takesCalls } = definition;
	if (!namePattern().test(name)) {
		throw new TypeError(`tool name ${JSON.stringify(name)}: expected 1 to 128 letters, digits, "_", "-" or "."`);
	}
	const input = object(definition.input ?? {});
	checkDefaults(input, name);
	const members = { name, description, inputSchema: definition.inputSchema ?? input };
	const plain = listed(name, { ...members, annotations: audience && { audience: [audience] } });
	const isPlain = [title, annotations, execution, output].every((member) => member === undefined);
	const list = listed(name, {
		...members,
		title,
		outputSchema: output && object(output),
		annotations: (annotations ?? audience) && { ...annotations, audience: audience && [audience] },
		execution,
	});
	return deepFreeze({
		...(isPlain ? plain : list),
		plain,
		name,
		userOnly: audience === "user",
		members: prepareMembers(input),
		...(annotations?.destructiveHint && { isDestructive: true }),
		...(takesCalls && { takesCalls }),
		...(check && { check }),
		run: (check === undefined
			? definition.run
			: (args: never, context: Context, call: ToolCall) => {
					check(args, context);
					return definition.run(args, context, call);
				}) as Tool<Context>["run"],
	});
};

const checkDefaults = (schema: Schema, path: string): void => {
	if (schema.default !== undefined) {
		validate(prepare(schema), schema.default, `${path}: default`);
	}
	for (const [name, property] of Object.entries(schema.properties ?? {})) {
		checkDefaults(property, `${path}.${name}`);
	}
	if (schema.items !== undefined) {
		checkDefaults(schema.items, `${path}[]`);
	}
};
