import type { CallToolResult, Tool } from "@modelcontextprotocol/server";
import { describeIssues, inputSchemaOf, type OrInput, present, type Server, textResult } from "xs-mcp-manager/core";
import * as z from "zod";
import type { Catalog } from "../catalog/catalog.js";
import { DEVICES, type ToolGroup } from "../catalog/groups.js";
import { searchTools } from "../catalog/tool-search.js";
import type { ListKind } from "../plugin.js";
import { answerWrongArguments, failedCall } from "./contents.js";

/** The client that calls a catalog tool. */
interface CatalogCaller {
	readonly catalog: Catalog;
	readonly revision: string;
	/** Calls a tool of a server on behalf of the client. */
	readonly call: (name: string, args: object) => Promise<OrInput<CallToolResult>>;
}

/** A tool with which a client finds and calls tools that are not in its list. */
export interface CatalogTool {
	readonly listed: Tool;
	/** Rejects as the call of a server's tool does. */
	readonly run: (args: object, caller: CatalogCaller) => Promise<OrInput<CallToolResult>>;
}

/** The notes in a client's list, by its kind. */
export const LIST_INSTRUCTIONS: Readonly<Record<ListKind, readonly string[]>> = {
	full: [],
	groups: [
		`A tool that several devices have is listed once: its argument devices names some of them, tags of several, or "all".
The result says what each device has answered. servers_list shows the devices, their tags, and which are online.`,
	],
	search: [
		`Not every tool is in the list of tools. servers_list shows devices and servers, tools_search finds tools,
tool_describe shows a tool's arguments, tool_call calls it, on several devices at once if they are named, and tool_read does if it is read-only.`,
	],
};

/** Servers in one answer. */
const MAX_SERVERS = 100;
const MAX_HITS = 50;
const DEFAULT_HITS = 10;

/** Characters of a description in the result of a search; tool_describe shows all. */
const MAX_SUMMARY = 200;

const READ_ONLY = { readOnlyHint: true, openWorldHint: false } as const;
const NAME = z.string().min(1).max(200).describe("Name of the tool");

const CALL = z.strictObject({
	name: NAME,
	arguments: z.looseObject({}).default({}),
	devices: z.array(z.string()).optional().describe('Aliases, tags of several, or "all"'),
});

type Call = z.infer<typeof CALL>;

const serversList = define({
	name: "servers_list",
	title: "List servers",
	description: "List devices and MCP servers: which are online, and how many tools each has",
	annotations: READ_ONLY,
	input: z.strictObject({
		query: z.string().max(200).optional().describe("Only servers with this text in their name, title, board or tags"),
		offset: z.int().min(0).default(0).describe(`Servers to skip: an answer has at most ${MAX_SERVERS}`),
	}),
	async run({ query = "", offset }, { catalog }) {
		const text = query.toLowerCase();
		const found = catalog.servers.filter(({ alias, title = "", board, tags }) =>
			[alias, title, board.name, ...tags].join(" ").toLowerCase().includes(text),
		);
		const servers = summaries(catalog, found.slice(offset, offset + MAX_SERVERS));
		const lines = servers.map(({ name, title, board, tags = [], tools, online, state }) => {
			const status = online ? `online${state === undefined ? "" : `, ${state}`}` : "offline";
			const tagged = tags.length > 0 ? `, tags ${tags.join(", ")}` : "";
			return `${name}${title === undefined ? "" : ` "${title}"`} (${board}${tagged}): ${status}, ${tools} ${tools === 1 ? "tool" : "tools"}`;
		});
		const next = offset + servers.length;
		return partialList(lines, {
			left: found.length - next,
			how: `ask with offset ${next}, or with query`,
			none: "No server found",
			structuredContent: { servers, total: found.length },
		});
	},
});

const toolsSearch = define({
	name: "tools_search",
	title: "Search tools",
	description:
		"Search the tools of all devices and MCP servers by words in their names, parts, tags and descriptions. " +
		"Nothing is translated: search again with words of the directory that a weak match comes with",
	annotations: READ_ONLY,
	input: z.strictObject({
		query: z.string().min(1).max(200).describe('Words, for example "kitchen volume"'),
		server: z.string().max(200).optional().describe("Only tools of this server, as servers_list names it"),
		limit: z.int().min(1).max(MAX_HITS).default(DEFAULT_HITS).describe("Tools in the answer"),
	}),
	async run({ query, server, limit }, { catalog }) {
		const { hits, directory } = searchTools(catalog, query, server);
		const tools = hits.slice(0, limit).flatMap((hit) => {
			const { title, description, annotations } = catalog.findListed(hit.name) ?? {};
			return { ...hit, ...present({ title, description: description?.slice(0, MAX_SUMMARY), annotations }) };
		});
		const lines = tools.map(({ name, devices, description, annotations }) => {
			const hints = [
				...(devices === undefined ? [] : [`${devices} devices`]),
				...(annotations?.readOnlyHint ? ["read-only"] : []),
				...(annotations?.destructiveHint ? ["destructive"] : []),
			];
			const head = hints.length > 0 ? `${name} (${hints.join(", ")})` : name;
			return description ? `${head}: ${description}` : head;
		});
		const words = Object.entries(directory ?? {}).flatMap(([kind, names]) =>
			names.length > 0 ? [`${kind}: ${names.join(", ")}`] : [],
		);
		const advice = directory && ["No strong match. Search again with these words:", ...words];
		return partialList([...lines, ...(advice ?? [])], {
			left: hits.length - tools.length,
			how: "use other words, or limit",
			none: "No tool found",
			structuredContent: { tools, total: hits.length, ...present({ directory }) },
		});
	},
});

const toolDescribe = define({
	name: "tool_describe",
	title: "Describe a tool",
	description: "Show a tool's description, the JSON Schema of its arguments, and its hints",
	annotations: READ_ONLY,
	input: z.strictObject({ name: NAME }),
	async run({ name: given }, { catalog }) {
		const name = catalog.nameOf(given);
		const listed = catalog.findListed(name);
		if (listed === undefined) {
			return unknownTool(catalog, name);
		}
		const { title, description, inputSchema, outputSchema, annotations } = listed;
		const tool = { name, ...present({ title, description, inputSchema, outputSchema, annotations }) };
		const { alias, online } = catalog.findTool(name)?.server ?? {};
		const described = { tool, ...(alias !== undefined && { server: { name: alias, online } }) };
		return textResult(JSON.stringify(described), { structuredContent: described });
	},
});

const toolCall = define({
	name: "tool_call",
	title: "Call a tool",
	description: "Call any tool by its name, on one device or several at once. The result is the tool's own",
	annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
	input: CALL,
	run: async (args, caller) => await callNamed(args, caller),
});

const toolRead = define({
	name: "tool_read",
	title: "Call a read-only tool",
	description: "Call a tool that only reads (read-only), on one device or several at once",
	annotations: READ_ONLY,
	input: CALL,
	async run(args, caller) {
		const { name } = args;
		const tool = caller.catalog.findListed(caller.catalog.nameOf(name));
		return tool === undefined || tool.annotations?.readOnlyHint === true
			? await callNamed(args, caller)
			: failedCall("not-read-only", `${name} is not known to be read-only: use tool_call`);
	},
});

/** The catalog tools, by their names. */
export const CATALOG_TOOLS: ReadonlyMap<string, CatalogTool> = new Map(
	[serversList, toolsSearch, toolDescribe, toolRead, toolCall].map((tool) => [tool.listed.name, tool]),
);

const LISTED: readonly Tool[] = [...CATALOG_TOOLS.values()].map(({ listed }) => listed);

/** The catalog tools as clients list them, by the kind of the list: a full one has that with which one call reaches several devices. */
export function catalogToolsFor(readOnly: boolean): Readonly<Record<ListKind, readonly Tool[]>> {
	return {
		full: [readOnly ? toolRead.listed : toolCall.listed],
		groups: [serversList.listed],
		search: LISTED.filter(({ annotations }) => !readOnly || annotations?.readOnlyHint),
	};
}

/** Calls a tool by its name, or with devices the group that it is in. */
async function callNamed(
	{ name: given, arguments: args, devices }: Call,
	{ catalog, call, revision }: CatalogCaller,
): Promise<OrInput<CallToolResult>> {
	const name = catalog.nameOf(given);
	if (catalog.findListed(name) === undefined) {
		return unknownTool(catalog, name);
	}
	if (devices === undefined) {
		return await call(name, args);
	}
	const group: ToolGroup | undefined = catalog.lists.findGroup(name) ?? catalog.findGroupOf(name);
	return group === undefined
		? answerWrongArguments(`${DEVICES}: only one device has ${name}: leave it out`, revision)
		: await call(group.listed.name, { ...args, [DEVICES]: devices });
}

function define<T>({
	input,
	run,
	...named
}: Pick<Tool, "name" | "title" | "description" | "annotations"> & {
	readonly input: z.ZodType<T>;
	readonly run: (args: T, caller: CatalogCaller) => Promise<OrInput<CallToolResult>>;
}): CatalogTool {
	return {
		listed: { ...named, inputSchema: inputSchemaOf(input) },
		async run(args, caller) {
			const { data, error } = input.safeParse(args);
			return error === undefined
				? await run(data, caller)
				: answerWrongArguments(`${named.name}: ${describeIssues(error.issues, "arguments")}`, caller.revision);
		},
	};
}

/** A part of a list: a line for each item, and how to get the rest. */
function partialList(
	lines: readonly string[],
	more: { left: number; how: string; none: string; structuredContent: Record<string, unknown> },
): CallToolResult {
	const { left, how, none, structuredContent } = more;
	const rest = left > 0 ? [`${left} more: ${how}`] : [];
	return textResult([...lines, ...rest].join("\n") || none, { structuredContent });
}

function summaries(catalog: Catalog, servers: readonly Server[]) {
	const counts = new Map<Server, number>();
	for (const { name } of catalog.lists.tools()) {
		const server = catalog.findTool(name)?.server;
		if (server !== undefined) {
			counts.set(server, (counts.get(server) ?? 0) + 1);
		}
	}
	return servers.map((server) => {
		const { alias, title, board, online, state, tags } = server;
		const tools = counts.get(server) ?? 0;
		return {
			name: alias,
			...(title !== undefined && { title }),
			board: `${board.name} ${board.version}`,
			online,
			tools,
			...(tags.length > 0 && { tags }),
			state,
		};
	});
}

function unknownTool(catalog: Catalog, name: string): CallToolResult {
	return failedCall("unknown-tool", `${catalog.unknownText(name)}. tools_search finds tools`.replace("?.", "?"));
}
