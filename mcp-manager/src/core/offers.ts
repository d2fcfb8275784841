import {
	isSpecType,
	type Prompt,
	type Resource,
	type ResourceTemplateType,
	type Tool,
} from "@modelcontextprotocol/client";
import { z } from "zod";
import { isObject } from "../firmware.js";

/** A tool as a server lists it. */
export type ServerTool = Tool;
/** A resource as a server lists it. */
export type ServerResource = Resource;
/** A template of resources as a server lists it. */
export type ServerTemplate = ResourceTemplateType;
/** A prompt as a server lists it. */
export type ServerPrompt = Prompt;

/** Everything that a server lists, each in the server's own order. Lists are replaced, never changed. */
export interface Offers {
	/** User-only tools included. */
	readonly tools: readonly ServerTool[];
	readonly resources: readonly ServerResource[];
	readonly resourceTemplates: readonly ServerTemplate[];
	readonly prompts: readonly ServerPrompt[];
}

/** A list of a server. */
export type ListName = keyof Offers;

/** How a list is requested, and which notification reports a change. */
interface ListKind {
	readonly method: string;
	/** A page of it. Items are checked one by one, so that an invalid one does not affect others. */
	readonly page: z.ZodType<{ readonly nextCursor?: string | null | undefined }>;
	/** The capability that a server must declare; tools are always listed. */
	readonly capability: "tools" | "resources" | "prompts";
	readonly changed: string;
	/** The member by which items differ. */
	readonly key: string;
}

export const LISTS: Readonly<Record<ListName, ListKind>> = {
	tools: {
		method: "tools/list",
		page: pageOf("tools"),
		capability: "tools",
		changed: "notifications/tools/list_changed",
		key: "name",
	},
	resources: {
		method: "resources/list",
		page: pageOf("resources"),
		capability: "resources",
		changed: "notifications/resources/list_changed",
		key: "uri",
	},
	resourceTemplates: {
		method: "resources/templates/list",
		page: pageOf("resourceTemplates"),
		capability: "resources",
		changed: "notifications/resources/list_changed",
		key: "uriTemplate",
	},
	prompts: {
		method: "prompts/list",
		page: pageOf("prompts"),
		capability: "prompts",
		changed: "notifications/prompts/list_changed",
		key: "name",
	},
};

export const LIST_NAMES = Object.keys(LISTS) as ListName[];

export const NO_OFFERS: Offers = { tools: [], resources: [], resourceTemplates: [], prompts: [] };

function pageOf(list: ListName) {
	return z.looseObject({ nextCursor: z.string().nullish() }).extend({ [list]: z.array(z.unknown()) });
}

/** An item of a list with the members that MCP defines; undefined if it is not valid MCP. */
export function validItem<List extends ListName>(list: List, item: unknown): Offers[List][number] | undefined {
	return isObject(item) ? (VALIDATORS[list](item) as Offers[List][number] | undefined) : undefined;
}

const VALIDATORS: Readonly<Record<ListName, (item: Record<string, unknown>) => object | undefined>> = {
	tools: validTool,
	resources(item) {
		const { uri, name, size } = item;
		const resource = { uri, name, ...described(item), ...present({ size }) };
		return uri !== "" && isSpecType.Resource(resource) ? resource : undefined;
	},
	resourceTemplates(item) {
		const { uriTemplate, name } = item;
		const template = { uriTemplate, name, ...described(item) };
		return uriTemplate !== "" && isSpecType.ResourceTemplate(template) ? template : undefined;
	},
	prompts({ name, title, description, arguments: args, icons, _meta }) {
		const prompt = { name, ...present({ title, description, arguments: args, icons, _meta }) };
		return name !== "" && isSpecType.Prompt(prompt) ? prompt : undefined;
	},
};

/** Devices omit the schema's type if a tool takes no arguments. */
function validTool(item: Record<string, unknown>): object | undefined {
	const { name, title, description, inputSchema, outputSchema, annotations, icons, execution, _meta } = item;
	if (!isObject(inputSchema)) {
		return undefined;
	}
	const tool = {
		name,
		...present({ title, description }),
		inputSchema: { type: "object", ...inputSchema },
		...present({ outputSchema: isObject(outputSchema) ? outputSchema : undefined, annotations, icons, _meta }),
		...(isLong(execution) && { execution }),
	};
	return name !== "" && isSpecType.Tool(tool) ? tool : undefined;
}

/** Whether a tool is listed as one that may take long (2025-11-25, `execution.taskSupport`). Others need not say so. */
function isLong(execution: unknown): execution is object {
	return isObject(execution) && (execution.taskSupport === "optional" || execution.taskSupport === "required");
}

/** A tool without what it says of tasks, which are not passed on. */
export function withoutExecution({ execution: _, ...tool }: ServerTool): ServerTool {
	return tool;
}

/** The members that resources and templates share. */
function described({ title, description, mimeType, annotations, icons, _meta }: Record<string, unknown>): object {
	return present({ title, description, mimeType, annotations, icons, _meta });
}

/** The members that are not undefined. */
export function present<Members extends object>(members: Members): Partial<Members> {
	return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Partial<Members>;
}
