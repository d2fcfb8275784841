import {
	type CompleteRequestParams,
	isInputRequiredResult,
	ProtocolError,
	ProtocolErrorCode,
	specTypeSchemas,
	type Tool,
} from "@modelcontextprotocol/server";
import { type Skill, skillEntry } from "@modelcontextprotocol/server/ext/skills";
import * as z from "zod";
import type { Catalog } from "../catalog/catalog.js";
import { readPanel } from "../catalog/device-panel.js";
import { ALIAS_SEPARATOR } from "../catalog/shared-list.js";
import { readState, STATE_TEMPLATE } from "../catalog/state-resource.js";
import type { Client } from "./client.js";
import { type ClientRequest, type Method, method } from "./client-request.js";
import { promptFor, requestError, saysNotFound } from "./contents.js";
import { follow } from "./serve-listen.js";

/** Resources that one client may subscribe to. */
const MAX_SUBSCRIPTIONS = 10_000;

/** The methods of resources. */
export const RESOURCE_METHODS: Readonly<Record<string, Method>> = {
	"resources/list": method(specTypeSchemas.PaginatedRequestParams, (params, { client }) =>
		client.page("resources", client.catalog.lists.resources(), ({ uri }) => uri, params),
	),
	"resources/templates/list": method(specTypeSchemas.PaginatedRequestParams, (params, { client }) => {
		const templates = client.catalog.lists.resourceTemplates();
		return client.page("resourceTemplates", templates, ({ uriTemplate }) => uriTemplate, params);
	}),
	"resources/read": method(specTypeSchemas.ReadResourceRequestParams, ({ uri }, request) => read(uri, request)),
	"resources/subscribe": method(
		specTypeSchemas.SubscribeRequestParams,
		async ({ uri }, request) => {
			await request.client.subscriptions.add(uri);
			return await request.client.keepSettings(request);
		},
		"session",
	),
	"resources/unsubscribe": method(
		specTypeSchemas.SubscribeRequestParams,
		({ uri }, request) => {
			request.client.subscriptions.remove(uri);
			return request.client.keepSettings(request);
		},
		"session",
	),
};

async function read(uri: string, request: ClientRequest): Promise<object> {
	const { client, signal } = request;
	const { catalog } = client;
	const stateOf = catalog.findState(uri);
	if (stateOf !== undefined) {
		return { contents: [await readState(stateOf, signal)] };
	}
	const { panel } = client.gateway;
	const page = panel && readPanel(catalog, panel, uri);
	if (page) {
		return { contents: [page] };
	}
	if (uri === SKILL_URI) {
		return { contents: [{ uri, mimeType: "text/markdown", text: skillText(catalog) }] };
	}
	const found = catalog.findResource(uri);
	if (found === undefined) {
		throw notFound(uri);
	}
	const { server } = found;
	try {
		const made = { method: "resources/read", params: { uri: found.uri } } as const;
		const result = await client.gateway.asking.request(request, server, made);
		return isInputRequiredResult(result)
			? result
			: { contents: result.contents.map((each) => ({ ...each, uri: catalog.clientUri(server, each.uri) })) };
	} catch (error) {
		throw saysNotFound(error) ? notFound(uri) : requestError(error, server, client.revision);
	}
}

/** The resources that a client follows in its session. */
export type ClientSubscriptions = ReturnType<typeof makeSubscriptions>;

/** Makes the subscriptions of a client, of which there are none yet. */
export function makeSubscriptions(client: Client) {
	/** Functions that end the subscriptions, by URI. */
	const ends = new Map<string, () => void>();
	let closed = false;

	const has = (uri: string): boolean => ends.has(uri);
	const remove = (uri: string): void => {
		ends.get(uri)?.();
		ends.delete(uri);
	};
	return {
		get uris(): readonly string[] {
			return [...ends.keys()];
		},
		has,
		/** Subscribes to a resource. Rejects with ProtocolError. */
		async add(uri: string): Promise<void> {
			const { catalog, revision } = client;
			if (has(uri)) {
				return;
			}
			if (ends.size >= MAX_SUBSCRIPTIONS) {
				throw new ProtocolError(ProtocolErrorCode.InvalidParams, `too many subscriptions (limit ${MAX_SUBSCRIPTIONS})`);
			}
			const end = await follow(catalog, uri).catch((error: unknown) => {
				const server = catalog.findResource(uri)?.server;
				throw saysNotFound(error) || server === undefined ? notFound(uri) : requestError(error, server, revision);
			});
			if (end === undefined) {
				throw notFound(uri);
			}
			if (closed || has(uri)) {
				// Meanwhile the client has disconnected, or subscribed once more.
				end();
			} else {
				ends.set(uri, end);
			}
		},
		remove,
		/** Ends all: the client has disconnected. */
		close(): void {
			closed = true;
			[...ends.keys()].forEach(remove);
		},
	};
}

/** A resource that does not exist: {@link errorFor} makes the code that of the client's revision. */
function notFound(uri: string): ProtocolError {
	return new ProtocolError(ProtocolErrorCode.InvalidParams, `Resource not found: ${uri}`, { uri });
}

/** The extension of SEP-2640. */
export const SKILLS_EXTENSION = "io.modelcontextprotocol/skills";

/** The skill's name, which ends its path. */
const SKILL_NAME = "devices";

const SKILL_PATH = `xs-mcp/${SKILL_NAME}`;

/** The only skill, and its only file. */
const SKILL_URI = `skill://${SKILL_PATH}/SKILL.md`;

const LIST = z.looseObject({ cursor: z.string().optional() });
const GET = z.looseObject({ uri: z.string().max(2_048) });

/** The methods of SEP-2640. */
export const SKILL_METHODS: Readonly<Record<string, Method>> = {
	"skills/list": method(LIST, async ({ cursor }, { client }) => {
		if (cursor !== undefined && cursor !== "") {
			throw new ProtocolError(ProtocolErrorCode.InvalidParams, "cursor: the list has one page");
		}
		return { skills: [await entryOf(client.catalog)], ...client.caching };
	}),
	"skills/get": method(GET, async ({ uri }, { client }) => {
		if (uri !== SKILL_URI) {
			throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Skill not found: ${uri}`, { uri });
		}
		return { skill: await entryOf(client.catalog), ...client.caching };
	}),
};

async function entryOf(catalog: Catalog): Promise<Skill> {
	return await skillEntry(SKILL_PATH, { "SKILL.md": skillText(catalog) });
}

/** Suggestions that an answer may have: MCP "Completion Results". */
const MAX_SUGGESTIONS = 100;

/** The methods of prompts, and of suggestions for arguments of prompts and for variables of resources' templates. */
export const PROMPT_METHODS: Readonly<Record<string, Method>> = {
	"prompts/list": method(specTypeSchemas.PaginatedRequestParams, (params, { client }) =>
		client.page("prompts", client.catalog.lists.prompts(), ({ name }) => name, params),
	),
	"prompts/get": method(specTypeSchemas.GetPromptRequestParams, async ({ name, arguments: args }, request) => {
		const { client } = request;
		const { server, item: prompt } = findPrompt(client, name);
		try {
			const params = { name: prompt.name, ...(args && { arguments: args }) };
			const result = await client.gateway.asking.request(request, server, { method: "prompts/get", params });
			return isInputRequiredResult(result)
				? result
				: promptFor(result, client.revision, (uri) => client.catalog.clientUri(server, uri));
		} catch (error) {
			throw requestError(error, server, client.revision);
		}
	}),
	"completion/complete": method(specTypeSchemas.CompleteRequestParams, complete),
};

async function complete({ argument, context, ref: asked }: CompleteRequestParams, { client, signal }: ClientRequest) {
	if (asked.type === "ref/resource" && asked.uri === STATE_TEMPLATE.uriTemplate) {
		const aliases = argument.name === "alias" ? client.catalog.servers.map(({ alias }) => alias) : [];
		const values = aliases.filter((alias) => alias.startsWith(argument.value)).slice(0, MAX_SUGGESTIONS);
		return { completion: { values } };
	}
	const { server, ref } = findReference(client, asked);
	// Suggestions are useful only while a person types: never wait for an offline server.
	if (!server.online || server.connection?.declares("completions") !== true) {
		return { completion: { values: [] } };
	}
	const params = { ref, argument, ...(context && { context }) };
	try {
		return await server.request({ method: "completion/complete", params }, { signal });
	} catch (error) {
		throw requestError(error, server, client.revision);
	}
}

type Reference = { readonly type: "ref/prompt"; name: string } | { readonly type: "ref/resource"; uri: string };

/** The reference that a client wants completed, and its server. */
function findReference(client: Client, ref: Reference) {
	if (ref.type === "ref/prompt") {
		const { server, item: prompt } = findPrompt(client, ref.name);
		return { server, ref: { ...ref, name: prompt.name } };
	}
	const found = client.catalog.findResource(ref.uri);
	if (found === undefined) {
		throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown resource template: ${ref.uri}`);
	}
	return { server: found.server, ref: { ...ref, uri: found.uri } };
}

function findPrompt({ catalog }: Client, name: string) {
	const found = catalog.findPrompt(name);
	if (found === undefined) {
		throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown prompt: ${name}`);
	}
	return found;
}

/** Devices and servers, tags, tools and arguments that the skill names. */
const MAX_SERVERS = 100;
const MAX_TAGS = 30;
const MAX_TOOLS = 30;
const MAX_ARGUMENTS = 30;

/** Tools that are looked at: thousands of devices have the same. */
const MAX_CALLABLE = 5_000;

/** Characters of a text that a device says of itself. */
const MAX_LABEL = 60;

/** A tool by its name without a device, and the devices that have it. */
interface NamedTool {
	readonly name: string;
	readonly listed: Tool;
}

/**
 * `SKILL.md` for a catalog: which devices there are, how to call them, and what needs care. It does not change while a device
 * is offline. Of what devices say of themselves it has names alone: descriptions are in the list of tools.
 */
function skillText(catalog: Catalog): string {
	const { servers } = catalog;
	const tools = namedTools(catalog);
	const isAlone = catalog.server !== undefined;
	const rows = servers
		.slice(0, MAX_SERVERS)
		.map(({ alias, board, tags }) => `| ${alias} | ${label(board.name)} | ${tags.join(", ")} |`);
	const left = servers.length - rows.length;
	const careful = tools
		.filter(({ listed }) => listed.annotations?.destructiveHint === true)
		.slice(0, MAX_TOOLS)
		.map(({ name }) => `- \`${name}\``);
	return [
		"---",
		`name: ${SKILL_NAME}`,
		'description: "Which devices and servers are here, their names, tags and limits, and which tools need care. Read it before you control a device."',
		"---",
		"",
		"# Devices",
		"",
		...(rows.length === 0 ? ["No device is known yet."] : ["| name | kind | tags |", "| --- | --- | --- |", ...rows]),
		...(left > 0 ? ["", `${left} more: \`servers_list\`.`] : []),
		"",
		"## Call a tool",
		"",
		...(isAlone ? [] : [`- A tool's name is the device's, \`${ALIAS_SEPARATOR}\`, and the tool's.`]),
		...(isAlone || servers.length < 2 ? [] : severalDevices(catalog)),
		"- A call waits a moment for a device that is offline. Then it fails, and nothing was sent.",
		"- If a device is lost during a call, the call may have been carried out: read the state before you repeat it.",
		"",
		...section("## Ask the person first", "What these tools do cannot be undone by another call:", careful),
		...section("## Limits", "Arguments outside of these ranges are rejected:", limits(tools)),
	]
		.join("\n")
		.trimEnd()
		.concat("\n");
}

function severalDevices({ servers }: Catalog): string[] {
	const byTag = new Map<string, string[]>();
	for (const { alias, tags } of servers) {
		for (const tag of tags) {
			byTag.set(tag, [...(byTag.get(tag) ?? []), alias]);
		}
	}
	const tags = [...byTag].slice(0, MAX_TAGS).map(([tag, of]) => `\`${tag}\` (${of.length})`);
	return [
		'- One call reaches several devices with the argument `devices`: names, tags, or `["all"]`. Tools that are listed once have it; for others, `tool_call` and `tool_read`.',
		...(tags.length === 0 ? [] : [`- Tags: ${tags.join(", ")}.`]),
	];
}

/** Each tool once, in the order of their names. */
function namedTools(catalog: Catalog): readonly NamedTool[] {
	const found = new Map<string, NamedTool>();
	let looked = 0;
	for (const member of catalog.lists.members()) {
		looked += 1;
		if (looked > MAX_CALLABLE) {
			break;
		}
		const listed = catalog.listed(member);
		const prefix = `${member.server.alias}${ALIAS_SEPARATOR}`;
		const name = listed.name.startsWith(prefix) ? listed.name.slice(prefix.length) : listed.name;
		found.set(name, found.get(name) ?? { name, listed });
	}
	return [...found.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** The ranges of numbers that tools take. */
function limits(tools: readonly NamedTool[]): string[] {
	return tools
		.flatMap(({ name, listed }) => {
			const ranges = Object.entries(listed.inputSchema.properties ?? {}).flatMap(([argument, schema]) => {
				const { minimum, maximum } = schema as { readonly minimum?: unknown; readonly maximum?: unknown };
				const isRange = typeof minimum === "number" && typeof maximum === "number";
				return isRange ? [`\`${label(argument)}\` ${minimum} to ${maximum}`] : [];
			});
			return ranges.length === 0 ? [] : [`- \`${name}\`: ${ranges.join(", ")}`];
		})
		.slice(0, MAX_ARGUMENTS);
}

function section(title: string, intro: string, items: readonly string[]): string[] {
	return items.length === 0 ? [] : [title, "", intro, "", ...items, ""];
}

/** A device's own word, without what could end a cell or give instructions at length. */
function label(text: string): string {
	const plain = text.replace(/[^\p{L}\p{N} ._-]/gu, "");
	return plain.replace(/ +/g, " ").trim().slice(0, MAX_LABEL);
}
